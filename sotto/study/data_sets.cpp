#include "sotto/study/data_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "sotto/data/io/csv.hpp"
#include "sotto/data/load.hpp"
#include "sotto/data/synthetic_linear.hpp"
#include "sotto/data/synthetic_phase.hpp"

namespace sotto::study {
namespace {

namespace fs = std::filesystem;

/// Labels of the rows that stay; none: the row is left out.
using Relabel = std::function<std::optional<float>(float)>;

/// The first `most` rows (0: all) that `relabel` keeps, dense where the table is.
Table selected(const Table& table, std::int64_t most, double row_norm, const Relabel& relabel) {
  std::vector<std::int64_t> kept;
  std::vector<float> labels;
  std::int64_t entries = 0;
  for (std::int64_t i = 0; i < table.rows(); ++i) {
    if (most > 0 && std::ssize(kept) >= most) break;
    const auto label = relabel(table.labels()[static_cast<std::size_t>(i)]);
    if (!label) continue;
    kept.push_back(i);
    labels.push_back(*label);
    if (table.sparse())
      entries += table.offsets()[static_cast<std::size_t>(i) + 1] -
                 table.offsets()[static_cast<std::size_t>(i)];
  }
  TableBuilder builder(table.dim(), table.sparse(), {.row_norm = row_norm, .bias = false});
  const TableBuilder::Piece piece{std::ssize(kept), entries};
  auto writers = builder.extend({&piece, 1});
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const std::int64_t i = kept[k];
    if (table.sparse()) {
      const auto begin = static_cast<std::size_t>(table.offsets()[static_cast<std::size_t>(i)]);
      const auto end = static_cast<std::size_t>(table.offsets()[static_cast<std::size_t>(i) + 1]);
      for (std::size_t at = begin; at < end; ++at)
        writers[0].add(table.columns()[at], table.values()[at]);
    } else {
      for (std::int64_t j = 0; j < table.dim(); ++j)
        writers[0].add(static_cast<std::int32_t>(j), table.row(i)[j]);
    }
    writers[0].end_row(labels[k]);
  }
  builder.commit(writers);
  return std::move(builder).finish();
}

Expected<Table> load_libsvm(const DataSpec& spec, const std::string& path) {
  LoadOptions options;
  options.path = path;
  SOTTO_ASSIGN(options.format, parse_format("libsvm"));
  options.dim = spec.dim;
  options.row_norm = spec.row_norm;
  SOTTO_ASSIGN(Dataset data, load_table(options));
  return std::move(data.table);
}

/// The schema with every value of its label a class of its own, so that two can be picked.
Expected<Schema> schema_with_classes(const DataSpec& spec, const std::string& specs) {
  for (const std::string& place : {specs + "/schemas/", specs + "/../examples/"})
    if (fs::exists(place + spec.schema)) {
      SOTTO_ASSIGN(Schema schema, Schema::load(place + spec.schema));
      const auto label = std::find_if(schema.columns.begin(), schema.columns.end(), [](auto& each) {
        return each.kind == Schema::Kind::kLabel;
      });
      std::vector<std::string> values;
      for (const auto& group : label->values)
        values.insert(values.end(), group.begin(), group.end());
      std::sort(values.begin(), values.end());
      label->values.clear();
      for (const auto& value : values) label->values.push_back({value});
      schema.label = Schema::Label::kClasses;
      return schema;
    }
  return fail(ErrorKind::kIo,
              fmt::format("the schema {} is not beside the reproductions.", spec.schema));
}

Expected<Table> load_csv(const DataSpec& spec, const std::string& path, const std::string& specs) {
  SOTTO_ASSIGN(const Schema schema, schema_with_classes(spec, specs));
  ReadOptions options;
  options.labels = LabelKind::kMulticlass;
  options.layout = Layout::kDense;
  SOTTO_ASSIGN(Dataset data, read_csv(path, schema, options));
  return std::move(data.table);
}

Expected<Table> load_idx(const std::string& images, const std::string& labels) {
  LoadOptions options;
  SOTTO_ASSIGN(options.format, parse_format("idx"));
  options.labels = LabelKind::kMulticlass;
  options.path = images + "," + labels;
  SOTTO_ASSIGN(Dataset data, load_table(options));
  return std::move(data.table);
}

/// Stored labels are 0 … k-1 in the order of the classes; `first` is the smallest class value.
Relabel pair_of(const DataSpec& spec, std::int64_t first) {
  if (spec.classes.size() != 2) {
    // All classes: the second against the rest, as is usual for Covertype.
    const float positive =
        spec.classes.empty() ? 1.0F : static_cast<float>(spec.classes[0] - first);
    return [positive](float label) { return label == positive ? 1.0F : -1.0F; };
  }
  const auto negative = static_cast<float>(spec.classes[0] - first);
  const auto positive = static_cast<float>(spec.classes[1] - first);
  return [=](float label) -> std::optional<float> {
    if (label == negative) return -1.0F;
    if (label == positive) return 1.0F;
    return std::nullopt;
  };
}

/// "images,labels" below the folder.
Expected<Table> idx_below(const std::vector<std::string>& folders, const std::string& pair) {
  const std::size_t comma = pair.find(',');
  SOTTO_ASSIGN(const std::string images, file_below(folders, pair.substr(0, comma)));
  SOTTO_ASSIGN(const std::string labels, file_below(folders, pair.substr(comma + 1)));
  return load_idx(images, labels);
}

}  // namespace

Expected<DataSet> load_data(const DataSpec& spec,
                            const std::vector<std::string>& folders,
                            const std::string& specs,
                            std::int64_t rows,
                            std::int64_t dim) {
  DataSet result;
  result.row_norm = spec.row_norm;
  const std::int64_t n = rows > 0 ? rows : spec.rows;
  const std::int64_t d = dim > 0 ? dim : spec.dim;
  if (spec.kind == DataKind::kLinear) {
    result.train = make_dense_linear(n, d, spec.seed).table;
    result.test = make_dense_linear(std::min<std::int64_t>(n, 20'000), d, spec.seed, 1).table;
    result.row_norm = 1;
    return result;
  }
  if (spec.kind == DataKind::kSigns) {
    result.train = make_sign_rows(n, d, 20, spec.seed).table;
    result.row_norm = std::sqrt(static_cast<double>(d));
    return result;
  }
  if (spec.kind == DataKind::kSparse) {
    // 10 columns that matter and 47 that don't.
    LinearData made = make_sparse_linear({n, d, 10, 0.3, 47, 1}, spec.seed);
    result.train = std::move(made.table);
    result.relevant = std::move(made.relevant);
    result.row_norm = std::sqrt(57.0);
    return result;
  }
  if (spec.kind == DataKind::kPhase) {
    result.train = make_phase_retrieval({.rows = n, .dim = d, .seed = spec.seed}).table;
    result.row_norm = 1;
    return result;
  }
  const std::int64_t most = rows > 0 ? rows : spec.rows;
  if (spec.kind == DataKind::kLibsvm) {
    SOTTO_ASSIGN(const std::string path, file_below(folders, spec.train));
    SOTTO_ASSIGN(result.train, load_libsvm(spec, path));
    if (most > 0 && most < result.train.rows())
      result.train = first_rows(result.train, most, spec.row_norm);
    if (!spec.test.empty()) {
      SOTTO_ASSIGN(const std::string test, file_below(folders, spec.test));
      SOTTO_ASSIGN(result.test, load_libsvm(spec, test));
    }
    return result;
  }
  if (spec.kind == DataKind::kCsv) {
    SOTTO_ASSIGN(const std::string path, file_below(folders, spec.train));
    SOTTO_ASSIGN(const Table all, load_csv(spec, path, specs));
    result.train = selected(all, most, spec.row_norm, pair_of(spec, 1));
    return result;
  }
  SOTTO_ASSIGN(const Table train, idx_below(folders, spec.train));
  result.train = selected(train, most, spec.row_norm, pair_of(spec, 0));
  if (!spec.test.empty()) {
    SOTTO_ASSIGN(const Table test, idx_below(folders, spec.test));
    result.test = selected(test, 0, spec.row_norm, pair_of(spec, 0));
  }
  return result;
}

std::vector<std::string> find_data(const std::vector<std::string>& given,
                                   const std::string& specs) {
  if (!given.empty()) return given;
  std::vector<std::string> found;
  std::error_code ignored;
  for (const std::string& place : {std::string("../shared/data"), specs + "/../../shared/data"})
    if (found.empty() && fs::is_directory(place, ignored))
      found.push_back(fs::weakly_canonical(place).string());
  if (const std::string cifar = specs + "/../build/cifar"; fs::is_directory(cifar, ignored))
    found.push_back(fs::weakly_canonical(cifar).string());
  return found;
}

Expected<std::string> file_below(const std::vector<std::string>& folders, const std::string& name) {
  for (const auto& folder : folders)
    if (const std::string path = folder + "/" + name; fs::exists(path)) return path;
  return fail(
      ErrorKind::kIo,
      fmt::format("the data file {} was not found{}. Name the folder that has it with ‘data DIR’.",
                  name,
                  folders.empty() ? "" : fmt::format(" (looked in {})", fmt::join(folders, ", "))));
}

Table first_rows(const Table& table, std::int64_t most, double row_norm) {
  return selected(table, most, row_norm, [](float label) { return std::optional<float>(label); });
}

}  // namespace sotto::study
