#include "sotto/task/family.hpp"

#include <fmt/format.h>

#include "sotto/data/row_blocks.hpp"
#include "sotto/task/linear_family.hpp"
#include "sotto/task/network_family.hpp"

namespace sotto {

namespace {

/// How the schema's features or classes differ from names that go with weights; none: not at all.
/// Names that a file does not have are not compared, and neither is an intercept's, the last one.
std::optional<std::string> difference(const Schema& schema,
                                      const std::vector<std::string>& features,
                                      const std::vector<std::string>& classes) {
  const auto of = [](const char* what,
                     const std::vector<std::string>& here,
                     const std::vector<std::string>& there) -> std::optional<std::string> {
    for (std::size_t k = 0; k < here.size(); ++k)
      if (k >= there.size() || here[k] != there[k])
        return fmt::format("{} {} is '{}' in the schema, and {} in the model",
                           what,
                           k + 1,
                           here[k],
                           k < there.size() ? "'" + there[k] + "'" : "none");
    return std::nullopt;
  };
  if (!features.empty())
    if (auto found = of("feature", schema.feature_names(), features)) return found;
  if (!classes.empty() && !schema.is_named(classes))
    return of("class", schema.class_names(), classes);
  return std::nullopt;
}

}  // namespace

LoadOptions Family::completed(LoadOptions options) const {
  adapt(options);
  options.public_rows = true;
  options.misfits = Misfits::kRefuse;
  options.most_rows = 0;  // a rule of training
  if (!options.has_schema()) options.schema_text = schema_;
  if (!options.has_schema()) {
    options.classes = class_names_;
    options.dim = resolve_format(options)->declares_dim ? features() : 0;
  }
  return options;
}

Expected<void> Family::check_features(std::int64_t dim, const LoadOptions& options) const {
  const std::int64_t read = dim - (options.bias ? 1 : 0);
  if (read == features()) return {};
  return fail(
      ErrorKind::kBadData,
      fmt::format("{} has {} features, but the training data has {}. Use files of the same kind.",
                  options.path,
                  read,
                  features()));
}

Expected<void> Family::check_schema(const LoadOptions& options) const {
  if (!options.has_schema()) return {};
  SOTTO_ASSIGN(const Schema schema, read_schema(options));
  const auto differs = difference(schema, feature_names_, class_names_);
  if (!differs) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("‘schema’ is not the one that the model was trained with: {}. A model's "
                          "own schema is inside it: leave ‘schema’ out.",
                          *differs));
}

Expected<Dataset> Family::read(LoadOptions options) const {
  SOTTO_TRY(check_schema(options));
  options = completed(std::move(options));
  options.purpose = ReadFor::kEvaluation;
  SOTTO_ASSIGN(Dataset rows, load_table(options));
  SOTTO_TRY(check_features(rows.table.dim(), options));
  return rows;
}

Expected<std::unique_ptr<RowBlocks>> Family::read_blocks(LoadOptions options) const {
  SOTTO_TRY(check_schema(options));
  options = completed(std::move(options));
  SOTTO_ASSIGN(auto rows, open_rows(options));
  SOTTO_TRY(check_features(rows->dim(), options));
  return rows;
}

Expected<std::vector<std::string>> Family::predict(const Table& rows, const Vector& all) const {
  SOTTO_ASSIGN(const auto numbers, outputs(rows, all));
  const auto each = static_cast<std::size_t>(width());
  std::vector<std::string> result;
  for (std::size_t begin = 0; begin < numbers.size(); begin += each)
    result.push_back(prediction({numbers.data() + begin, each}));
  return result;
}

void Family::describe_names(Model& model) const {
  model.class_names = class_names_;
  model.feature_names = feature_names_;
  model.schema = schema_;
}

std::string Family::class_name(std::size_t c) const {
  return c < class_names_.size() ? class_names_[c] : std::to_string(c);
}

Expected<std::unique_ptr<Family>> family_of(const Model& model) {
  if (!model.schema.empty()) {
    const auto schema = Schema::parse(model.schema, "the model's schema");
    if (!schema) return fail(ErrorKind::kBadData, schema.error().message);
    if (const auto differs = difference(*schema, model.feature_names, model.class_names))
      return fail(ErrorKind::kBadData,
                  fmt::format("the model contradicts itself: {}. Somebody changed the file: train "
                              "again, or take the one that `train` wrote.",
                              *differs));
  }
  if (model.network.empty()) return LinearFamily::of(model);
  return NetworkFamily::of(model);
}

}  // namespace sotto
