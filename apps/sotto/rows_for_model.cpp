#include "rows_for_model.hpp"

#include <fmt/format.h>

#include "printer.hpp"
#include "sotto/core/file_kind.hpp"

namespace sotto::app {

Expected<Model> load_model_for(const std::string& model_path, const std::string& data_path) {
  auto model = load_model(model_path);
  if (model || model.error().kind != ErrorKind::kBadData) return model;
  const auto other = kind_at(data_path);
  if (!other || *other != FileKind::kModel) return model;
  return fail(
      ErrorKind::kUsage,
      fmt::format(
          "{} is a model, and {} is none: DATA comes before MODEL.", data_path, model_path));
}

void warn_of_training_rows(const Model& model, std::int64_t rows) {
  const PrivacyStatement& privacy = model.privacy;
  if (!privacy.is_private || privacy.unit != "row" || privacy.public_n != rows) return;
  say("warning: these are as many rows as the model was trained on, {}. If they are those rows, "
      "what is shown here tells about them exactly, and no charge covers it: use rows that are "
      "public.\n",
      rows);
}

void RowsForModel::add_to(Verb& verb) {
  data.add_rows(verb, "DATA", data_path, "public rows with labels, in the training data's format")
      .required();
  verb.add_input("MODEL", model_path, "a model that `train` wrote").required();
  verb.add_input("--schema", data.schema_path, "instead of the schema inside the model")
      .group("Data");
  verb.add_word("--format", data.format, "auto, libsvm, csv, npy, idx, cifar10 or cifar100")
      .show_default()
      .group("Data");
  data.add_limits(verb);
}

Expected<RowsForModel::Opened> RowsForModel::open() const {
  SOTTO_ASSIGN(Model model, load_model_for(model_path, data_path));
  SOTTO_ASSIGN(auto family, family_of(model));
  SOTTO_ASSIGN(LoadOptions options, data.load_options(data_path));
  options.persons = false;  // a row counts once, whoever it is about
  SOTTO_ASSIGN(Dataset rows, family->read(std::move(options)));
  for (const auto& note : rows.notes) say("note: {}\n", note);
  warn_of_training_rows(model, rows.table.rows());  // public rows: to be looked at
  return Opened{std::move(model), std::move(family), std::move(rows)};
}

}  // namespace sotto::app
