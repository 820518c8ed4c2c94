#include "tests/fuzz/targets.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/sotto/config_file.hpp"
#include "sotto/audit/verify.hpp"
#include "sotto/audit/verify_copies.hpp"
#include "sotto/core/json.hpp"
#include "sotto/data/dataset.hpp"
#include "sotto/data/dictionary.hpp"
#include "sotto/data/io/cifar.hpp"
#include "sotto/data/io/csv.hpp"
#include "sotto/data/io/idx.hpp"
#include "sotto/data/io/libsvm.hpp"
#include "sotto/data/io/npy.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/data/schema_draft.hpp"
#include "sotto/data/schema_remarks.hpp"
#include "sotto/geometry/constraint_set.hpp"
#include "sotto/loss/loss_info.hpp"
#include "sotto/model/model.hpp"
#include "sotto/model/onnx/onnx.hpp"
#include "sotto/objective/network/spec.hpp"
#include "sotto/privacy/event.hpp"
#include "sotto/privacy/journal.hpp"
#include "sotto/report/reported_run.hpp"
#include "sotto/study/spec.hpp"
#include "sotto/task/class_weights.hpp"
#include "sotto/training/checkpoint.hpp"

namespace sotto::fuzz {
namespace {

/// The input as a file, in memory where the system has a folder for that.
std::string as_file(std::string_view input, const char* name) {
  static const std::string folder = [] {
    std::string path = "/dev/shm/sotto-fuzz-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      path = "/tmp/sotto-fuzz-XXXXXX";
      if (::mkdtemp(path.data()) == nullptr) std::abort();
    }
    return path;
  }();
  const std::string path = folder + "/" + name;
  std::ofstream(path, std::ios::binary) << input;
  return path;
}

ReadOptions reading(std::string_view input) {
  ReadOptions options;
  options.dim = 5;
  options.classes = {"-1", "+1"};
  options.row_norm = 2;
  // The last byte chooses, so that every file is read in all ways sooner or later.
  const unsigned choice = input.empty() ? 0 : static_cast<unsigned char>(input.back());
  if ((choice & 1U) != 0) options.misfits = Misfits::kNull;
  if ((choice & 2U) != 0) options.labels = LabelKind::kReal;
  if ((choice & 4U) != 0) options.bias = true;
  if ((choice & 8U) != 0) options.layout = Layout::kSparse;
  return options;
}

constexpr std::string_view kSchema = R"(
[file]
separator = ","
[[column]]
name = "id"
kind = "unit"
[[column]]
name = "a"
kind = "numeric"
min = 0
max = 10
[[column]]
name = "b"
kind = "categorical"
values = ["x", "y"]
[[column]]
name = "y"
kind = "label"
positive = ["1"]
negative = ["0"]
)";

/// Of the same columns.
constexpr std::string_view kFurtherSchema = R"(
[[column]]
name = "id"
kind = "unit"
[[column]]
name = "a"
kind = "numeric"
date = "%Y-%m-%d %H:%M"
bins = ["2000-01-01 00:00", "2010-01-01 00:00"]
missing_indicator = true
[[column]]
name = "b"
kind = "categorical"
prefix = 3
case = "ignore"
values = ["x", "Ö"]
ranges = [["p", 1, 20], ["q", 20.5, 30], ["p", 10, 20]]
[[column]]
name = "y"
kind = "label"
positive = ["Yes"]
negative = ["0"]
case = "ignore"
)";

void libsvm(std::string_view input) {
  (void)read_libsvm(as_file(input, "rows.svm"), reading(input));
}
void gzip(std::string_view input) {
  (void)read_libsvm(as_file(input, "rows.svm.gz"), reading(input));
}
void csv(std::string_view input) {
  static const auto plain = Schema::parse(kSchema, "schema.toml");
  static const auto further = Schema::parse(kFurtherSchema, "schema.toml");
  if (!plain || !further) std::abort();
  const bool is_further = !input.empty() && (static_cast<unsigned char>(input.back()) & 16U) != 0;
  const auto& schema = is_further ? further : plain;
  ReadOptions options = reading(input);
  options.dim = 0;
  options.classes.clear();
  options.labels = LabelKind::kBinary;
  (void)read_csv(as_file(input, "rows.csv"), *schema, options);
}
void schema(std::string_view input) {
  const SchemaReading reading = SchemaReading::of(input);
  if (reading.mistakes.empty()) (void)remarks_on(reading, {});
  const auto parsed = Schema::parse(input, "schema.toml");
  if (parsed.has_value() != reading.mistakes.empty()) std::abort();
  if (!parsed) return;
  std::size_t features = 0;
  for (const auto& column : parsed->columns) features += column.features();
  if (features != parsed->feature_names().size()) std::abort();
  const double bound = parsed->row_norm_bound(true);
  if (!(bound > 0) || !(bound * bound <= 2 * static_cast<double>(features) + 1.001)) std::abort();
}
/// What is drafted of a dictionary is TOML, whose only mistakes are questions, or such as follow
/// from the dictionary's own values.
void dictionary(std::string_view input) {
  for (const char* name : {"d.csv", "d.toml"}) {
    const auto columns = parse_dictionary(std::string(input), name);
    if (!columns) continue;
    const auto draft = draft_schema(*columns, {});
    if (!draft) std::abort();
    if (!read_toml(*draft, "draft")) std::abort();
  }
}
void npy(std::string_view input) {
  const std::size_t half = input.size() / 2;
  ReadOptions options = reading(input);
  options.dim = 0;
  (void)read_npy(
      as_file(input.substr(0, half), "x.npy"), as_file(input.substr(half), "y.npy"), options);
}
void idx(std::string_view input) {
  const std::size_t half = input.size() / 2;
  ReadOptions options = reading(input);
  options.dim = 0;
  (void)read_idx(as_file(input.substr(0, half), "x"), as_file(input.substr(half), "y"), options);
}
void cifar(std::string_view input) {
  ReadOptions options = reading(input);
  options.dim = 0;
  options.labels = LabelKind::kMulticlass;
  options.classes.clear();
  (void)read_cifar(as_file(input, "a.bin"), CifarKind::kTen, options);
}
void model(std::string_view input) { (void)model_from_text(std::string(input), "model.json"); }
void onnx(std::string_view input) { (void)network_from_onnx(input, "model.onnx"); }
void record(std::string_view input) {
  const auto json = parse_json(input);
  if (!json) return;
  (void)verify_record(*json);
  (void)check_model(*json, *json);
  (void)reported_run(*json, "a run", "run.json");
}
void journal(std::string_view input) {
  const auto content = read_whole_journal(as_file(input, "m.journal"));
  if (!content) return;
  for (const JournalRun& run : content->runs) {
    std::int64_t terms = 0;
    for (const Event& event : run.charged)
      if (const auto canonical_form = canonical(event))
        terms += static_cast<std::int64_t>(canonical_form->terms.size());
    if (terms < 8) (void)price(run, run.promise.budget.delta);
  }
}
void checkpoint(std::string_view input) { (void)read_checkpoint(as_file(input, "run.ckpt")); }
void network(std::string_view input) {
  if (const auto spec = parse_network(std::string(input), "net.toml")) (void)shapes_of(*spec);
}
void event(std::string_view input) {
  if (const auto parsed = parse_event(std::string(input), Relation::kZeroOut)) {
    const auto text = to_string(*parsed);
    if (!parse_event(text, Relation::kZeroOut)) std::abort();
    (void)canonical(*parsed);
  }
}
void config(std::string_view input) {
  (void)app::with_config_file({"train", "--config", as_file(input, "config.toml")});
}
void polytope(std::string_view input) {
  (void)parse_constraint("polytope:" + as_file(input, "vertices"));
}
void loss(std::string_view input) {
  if (const auto parsed = parse_loss(input)) {
    const std::string text = to_string(*parsed);
    const auto again = parse_loss(text);
    if (!again || to_string(*again) != text) std::abort();
    (void)loss_info(*parsed);
    (void)check_loss(*parsed);
  }
  Dataset names;
  names.class_names = {"a", "b"};
  if (const auto weights = parse_class_weights(input)) (void)weights_by_class(*weights, 2, names);
}
void constraint(std::string_view input) {
  if (!input.starts_with("polytope")) (void)parse_constraint(input);
}
void study(std::string_view input) { (void)study::parse_spec(input, "study.toml"); }

}  // namespace

const std::map<std::string, Target>& targets() {
  static const std::map<std::string, Target> all = {{"checkpoint", checkpoint},
                                                    {"cifar", cifar},
                                                    {"config", config},
                                                    {"constraint", constraint},
                                                    {"loss", loss},
                                                    {"csv", csv},
                                                    {"dictionary", dictionary},
                                                    {"event", event},
                                                    {"gzip", gzip},
                                                    {"idx", idx},
                                                    {"journal", journal},
                                                    {"libsvm", libsvm},
                                                    {"model", model},
                                                    {"network", network},
                                                    {"npy", npy},
                                                    {"onnx", onnx},
                                                    {"polytope", polytope},
                                                    {"record", record},
                                                    {"schema", schema},
                                                    {"study", study}};
  return all;
}

}  // namespace sotto::fuzz
