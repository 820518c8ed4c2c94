#include "sotto/task/family.hpp"

#include <fmt/format.h>

#include "sotto/data/row_blocks.hpp"
#include "sotto/task/linear_family.hpp"
#include "sotto/task/network_family.hpp"

namespace sotto {

LoadOptions Family::completed(LoadOptions options) const {
  adapt(options);
  options.public_rows = true;
  options.misfits = Misfits::kRefuse;
  if (!options.has_schema()) options.schema_text = schema_;
  if (!options.has_schema()) {
    options.classes = class_names_;
    options.dim = resolve_format(options) == Format::kLibsvm ? features() : 0;
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

Expected<Dataset> Family::read(LoadOptions options) const {
  options = completed(std::move(options));
  SOTTO_ASSIGN(Dataset rows, load_table(options));
  SOTTO_TRY(check_features(rows.table.dim(), options));
  return rows;
}

Expected<std::unique_ptr<RowBlocks>> Family::read_blocks(LoadOptions options) const {
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
  if (model.network.empty()) return LinearFamily::of(model);
  return NetworkFamily::of(model);
}

}  // namespace sotto
