#include "sotto/objective/network/features.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sotto/core/parallel.hpp"
#include "sotto/objective/network/engine.hpp"

namespace sotto {

std::size_t most_feature_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 2;
}

Expected<std::optional<FrozenFeatures>> frozen_features(const Table& table,
                                                        const NetworkSpec& spec,
                                                        const Vector& w,
                                                        std::size_t most_bytes) {
  SOTTO_TRY(shapes_of(spec));
  const auto ranges = parameter_ranges(spec);
  std::size_t first = 0;
  bool frozen = false;
  while (ranges[first].count() == 0 || spec.layers[first].frozen) {
    frozen = frozen || ranges[first].count() > 0;
    ++first;
  }
  if (!frozen) return std::optional<FrozenFeatures>();
  SOTTO_ASSIGN(const auto engine, NetworkEngine::make(table, spec, w));

  FrozenFeatures result;
  // All but what the features have behind them: its loss with the class weights stays.
  result.rest = spec;
  result.rest.input = engine->frozen_shape();
  result.rest.mean.clear();
  result.rest.deviation.clear();
  result.rest.layers.erase(result.rest.layers.begin(),
                           result.rest.layers.begin() + static_cast<std::ptrdiff_t>(first));

  const std::int64_t width = result.rest.input.size();
  PageFile file;
  const auto bytes = static_cast<std::size_t>(table.rows() * ((width + 7) / 8 * 8)) * sizeof(float);
  if (bytes > most_bytes) {
    SOTTO_ASSIGN(file, PageFile::create("", bytes));
  }
  TableBuilder builder(width, false, {}, table.has_units(), std::move(file));
  std::vector<std::int64_t> owner;  // of each row, where persons own several
  if (table.has_units())
    for (std::int64_t u = 0; u < table.units(); ++u)
      owner.resize(static_cast<std::size_t>(table.unit_begin(u + 1)), u);
  const auto name_of = [&](std::int64_t row) -> std::optional<std::string_view> {
    if (owner.empty()) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(&owner[static_cast<std::size_t>(row)]),
                            sizeof(std::int64_t));
  };
  std::vector<std::unique_ptr<Engine::Workspace>> workspaces;
  std::vector<std::vector<float>> features;
  for (int i = 0; i < thread_count(); ++i) {
    workspaces.push_back(engine->make_workspace());
    features.emplace_back(static_cast<std::size_t>(engine->block_size() * width));
  }
  const std::int64_t size = engine->block_size();
  std::vector<TableBuilder::Piece> pieces;
  for (std::int64_t begin = 0; begin < table.rows(); begin += size)
    pieces.push_back({std::min(size, table.rows() - begin), 0});
  auto writers = builder.extend(pieces);
  parallel_for(std::ssize(pieces), [&](std::int64_t k, int worker) {
    const auto mine = static_cast<std::size_t>(worker);
    const Block block{nullptr, k * size, pieces[static_cast<std::size_t>(k)].rows};
    engine->evaluate_frozen(block, *workspaces[mine], features[mine]);
    auto& writer = writers[static_cast<std::size_t>(k)];
    for (std::int64_t i = 0; i < block.count; ++i) {
      const std::int64_t row = block.begin + i;
      const float label = table.labels()[static_cast<std::size_t>(row)];
      const auto name = name_of(row);
      if (table.is_null_unit(owner.empty() ? row : owner[static_cast<std::size_t>(row)])) {
        writer.end_null_row(label, name);
        continue;
      }
      for (std::int64_t j = 0; j < width; ++j)
        writer.add(static_cast<std::int32_t>(j),
                   features[mine][static_cast<std::size_t>(i * width + j)]);
      writer.end_row(label, name.value_or(std::string_view()));
    }
  });
  builder.commit(writers);
  result.table = std::move(builder).finish();
  return std::optional<FrozenFeatures>(std::move(result));
}

}  // namespace sotto
