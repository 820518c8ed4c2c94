// A model as text. It is written when the budget of its run is spent, perhaps in the last free
// memory: piece by piece, and without JSON objects, whose destructors ask for memory and end the
// program where there is none.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/file.hpp"
#include "sotto/core/json.hpp"
#include "sotto/core/version.hpp"
#include "sotto/model/model.hpp"

namespace sotto {
namespace {

template <class Value>
std::string value_text(const Value& value) {
  return json_text(nlohmann::json(value));
}

/// The members of an object, with as many blanks before each as it is deep.
class Members {
 public:
  explicit Members(std::size_t depth) : depth_(depth), text_("{") {}

  void add_text(std::string_view name, std::string_view text) {
    text_ += text_.size() > 1 ? ",\n" : "\n";
    text_.append(depth_, ' ');
    text_ += fmt::format("\"{}\": {}", name, text);
  }
  template <class Value>
  void add(std::string_view name, const Value& value) {
    add_text(name, value_text(value));
  }
  void add(std::string_view name, const std::vector<std::string>& values) {
    std::string text = "[";
    for (const std::string& value : values) {
      text += text.size() > 1 ? ",\n" : "\n";
      text.append(depth_ + 1, ' ');
      text += value_text(value);
    }
    if (!values.empty()) text += "\n" + std::string(depth_, ' ');
    add_text(name, text + "]");
  }
  /// What was added since the last time.
  std::string take() { return std::exchange(text_, "  "); }  // longer than the first brace
  std::string end() { return text_ + "\n" + std::string(depth_ - 1, ' ') + "}"; }

 private:
  std::size_t depth_;
  std::string text_;
};

std::string privacy_text(const PrivacyStatement& statement) {
  Members members(2);
  members.add("accountant", statement.accountant);
  members.add("delta", statement.delta);
  members.add("epsilon", statement.epsilon);  // null if it is not finite
  members.add("events", statement.events);
  members.add("insecure_seed", statement.insecure_seed);
  if (const auto& journal = statement.journal) {
    Members place(3);
    place.add("chain", journal->head.chain);
    place.add("line", journal->head.line);
    place.add("run", journal->run);
    members.add_text("journal", place.end());
  }
  if (statement.most_rows > 0) members.add("most_rows", statement.most_rows);
  members.add("neighbours", std::string(to_string(statement.neighbours)));
  members.add("noise_samples", statement.noise_samples);
  members.add("private", statement.is_private && !statement.insecure_seed);
  if (statement.insecure_seed) members.add("private_if_seed_secret", statement.is_private);
  members.add("public_n", std::int64_t{statement.public_n});
  members.add("rule", statement.rule);
  if (statement.start_declared_public) members.add("start_declared_public", true);
  members.add("test_declared_public", statement.test_declared_public);
  members.add("unit", statement.unit);
  members.add("unsafe_diagnostics", statement.unsafe_diagnostics);
  return members.end();
}

std::string certificate_text(const Certificate& c) {
  Members members(2);
  members.add("confidence", c.confidence);
  members.add("curvature_by_algebra", c.curvature_by_algebra);
  members.add("curvature_floor", c.curvature_floor);
  members.add("curvature_lower", c.curvature_lower);
  members.add("curvature_tolerance", c.curvature_tolerance);
  members.add("gradient_floor", c.gradient_floor);
  members.add("gradient_norm", c.gradient_norm);
  members.add("gradient_tolerance", c.gradient_tolerance);
  members.add("gradient_upper", c.gradient_upper);
  members.add("reason", c.reason);
  members.add("verdict", to_string(c.verdict));
  return members.end();
}

std::string recalibration_text(const Recalibration& recalibration) {
  Members members(2);
  members.add("intercept", recalibration.intercept);
  members.add("method", std::string(to_string(recalibration.method)));
  members.add("rows", recalibration.rows);
  members.add("slope", recalibration.slope);
  return members.end();
}

/// As JSON writes numbers, without asking for memory.
Expected<void> write_weights(const Vector& w, const TextSink& sink) {
  constexpr std::size_t kLongest = 64;
  std::array<char, 1 << 14> buffer;
  char* next = buffer.data();
  const auto put = [&](std::string_view text) { next = std::copy(text.begin(), text.end(), next); };
  put("[");
  for (Eigen::Index k = 0; k < w.size(); ++k) {
    put(k > 0 ? ",\n  " : "\n  ");
    if (std::isfinite(w[k]))
      next = nlohmann::detail::to_chars(next, next + kLongest, w[k]);
    else
      put("null");
    if (buffer.data() + buffer.size() - next < 2 * static_cast<std::ptrdiff_t>(kLongest)) {
      SOTTO_TRY(sink({buffer.data(), static_cast<std::size_t>(next - buffer.data())}));
      next = buffer.data();
    }
  }
  put(w.size() > 0 ? "\n ]" : "]");
  return sink({buffer.data(), static_cast<std::size_t>(next - buffer.data())});
}

}  // namespace

Expected<void> write_text(const Model& model, const TextSink& sink) {
  // All of the small parts first: where memory runs out, nothing was written.
  Members members(1);
  members.add("sotto_model", kModelVersion);
  members.add("made_by", fmt::format("sotto {}", kVersion));
  members.add("method", model.method);
  members.add_text("privacy", privacy_text(model.privacy));
  members.add("loss", to_string(model.loss));
  members.add("regularizer", model.regularizer);
  members.add("bias", model.bias);
  members.add("row_norm", model.row_norm);
  members.add("class_names", model.class_names);
  members.add("feature_names", model.feature_names);
  members.add("schema", model.schema);
  members.add_text("weights", "");
  const std::string before = members.take();
  if (!model.network.empty()) members.add("network", model.network);
  if (model.certificate) members.add_text("certificate", certificate_text(*model.certificate));
  if (model.recalibrated) members.add_text("recalibrated", recalibration_text(*model.recalibrated));
  const std::string after = members.end() + "\n";
  SOTTO_TRY(sink(before));
  SOTTO_TRY(write_weights(model.w, sink));
  return sink(std::string_view(after).substr(2));
}

std::string to_text(const Model& model) {
  std::string text;
  (void)write_text(model, [&](std::string_view piece) {
    text += piece;
    return Expected<void>();
  });
  return text;
}

std::size_t memory_to_write(const Model& model) {
  constexpr std::size_t kEnough = std::size_t{1} << 20;
  // Six bytes where JSON escapes one, and the texts are put together a few times, growing by half.
  constexpr std::size_t kCopies = 32;
  std::size_t bytes = model.schema.size() + model.network.size();
  for (const auto* names : {&model.class_names, &model.feature_names})
    for (const std::string& name : *names) bytes += name.size() + 8;
  return kEnough + kCopies * bytes;
}

Expected<void> save_model(const Model& model, const std::string& path) {
  SOTTO_ASSIGN(AtomicFile file, AtomicFile::create(path, FileAccess::kPublic));
  SOTTO_TRY(write_text(model, [&](std::string_view piece) { return file.write(piece); }));
  return file.commit();
}

Expected<std::optional<KnownPlace>> journal_place_in(const std::string& path) {
  SOTTO_ASSIGN(const bool there, file_exists(path));
  if (!there) return std::nullopt;
  SOTTO_ASSIGN(const std::string text, read_text_file(path, kMostModelBytes));
  bool wanted = true;
  const auto only_these =
      [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
        if (depth > 8) return false;
        if (depth == 1 && event == nlohmann::json::parse_event_t::key)
          wanted = value == "privacy" || value == "command";
        return depth == 0 || wanted;
      };
  const auto json = nlohmann::json::parse(text, only_these, false);
  try {
    KnownPlace known;
    const auto& journal = json.at("privacy").at("journal");
    known.place.run = journal.at("run").get<std::string>();
    known.place.head = {journal.at("line").get<std::int64_t>(),
                        journal.at("chain").get<std::string>()};
    if (json.contains("command")) known.command = json["command"].get<std::vector<std::string>>();
    return known;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace sotto
