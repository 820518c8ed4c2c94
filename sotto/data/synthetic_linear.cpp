#include "sotto/data/synthetic_linear.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sotto/core/check.hpp"
#include "sotto/random/stream.hpp"

namespace sotto {
namespace {

double normal(Stream& random) {
  return std::sqrt(-2 * std::log(random.uniform())) *
         std::cos(2 * std::numbers::pi * random.uniform());
}

/// Every part of every seed has rows of its own.
Stream rows_stream(std::uint64_t seed, std::uint64_t part) {
  return Stream::seeded(seed, Purpose::kData, part + 1);
}

/// `count` columns spread evenly over [0, dim), with weights +1 and -1 by turns.
void choose_relevant(std::int64_t dim, std::int64_t count, LinearData& data) {
  for (std::int64_t k = 0; k < count; ++k) {
    data.relevant.push_back(k * dim / count);
    data.weights.push_back(k % 2 == 0 ? 1.0 : -1.0);
  }
}

}  // namespace

LinearData make_dense_linear(
    std::int64_t rows, std::int64_t dim, std::uint64_t seed, std::uint64_t part, double flip) {
  SOTTO_CHECK(rows > 0 && dim > 0 && flip >= 0 && flip <= 1);
  LinearData data;
  choose_relevant(dim, std::max<std::int64_t>(1, dim / 20), data);
  Stream random = rows_stream(seed, part);
  std::vector<float> values, labels;
  values.reserve(static_cast<std::size_t>(rows * dim));
  std::vector<double> row(static_cast<std::size_t>(dim));
  for (std::int64_t i = 0; i < rows; ++i) {
    double square = 0;
    double score = 0;
    for (std::size_t j = 0; j < row.size(); ++j) {
      row[j] = normal(random);
      square += row[j] * row[j];
    }
    for (std::size_t k = 0; k < data.relevant.size(); ++k)
      score += row[static_cast<std::size_t>(data.relevant[k])] * data.weights[k];
    // A shade below 1: float32 rounding must not make a row longer.
    for (const double x : row)
      values.push_back(static_cast<float>(0.999999 * x / std::sqrt(square)));
    const bool turned = random.uniform() < flip;
    labels.push_back((score > 0) != turned ? 1.0F : -1.0F);
  }
  data.table = TableBuilder::dense(rows, dim, values, std::move(labels), {});
  return data;
}

LinearData make_sign_rows(std::int64_t rows,
                          std::int64_t dim,
                          std::int64_t relevant,
                          std::uint64_t seed,
                          std::uint64_t part) {
  SOTTO_CHECK(rows > 0 && relevant > 0 && relevant <= dim);
  LinearData data;
  choose_relevant(dim, relevant, data);
  Stream random = rows_stream(seed, part);
  TableBuilder builder(dim, false, {});
  const TableBuilder::Piece piece{rows, 0};
  auto writers = builder.extend({&piece, 1});
  std::vector<std::uint64_t> words(static_cast<std::size_t>((dim + 63) / 64));
  const auto bit = [&](std::int64_t j) {
    return (words[static_cast<std::size_t>(j / 64)] >> (j % 64)) & 1;
  };
  for (std::int64_t i = 0; i < rows; ++i) {
    random.fill(std::as_writable_bytes(std::span(words)));
    for (std::int64_t j = 0; j < dim; ++j)
      writers[0].add(static_cast<std::int32_t>(j), bit(j) ? 1.0F : -1.0F);
    double score = bit(data.relevant[0]) ? 0.5 : -0.5;
    for (std::size_t k = 0; k < data.relevant.size(); ++k)
      score += data.weights[k] * (bit(data.relevant[k]) ? 1 : -1);
    writers[0].end_row(score > 0 ? 1.0F : -1.0F);
  }
  builder.commit(writers);
  data.table = std::move(builder).finish();
  return data;
}

LinearData make_sparse_linear(const SparseLinear& shape, std::uint64_t seed, std::uint64_t part) {
  SOTTO_CHECK(shape.rows > 0 && shape.relevant >= 0 && shape.others >= 0);
  SOTTO_CHECK(shape.relevant + 2 * shape.others <= shape.dim);
  LinearData data;
  choose_relevant(shape.dim, shape.relevant, data);
  Stream random = rows_stream(seed, part);
  TableBuilder builder(shape.dim, true, {});
  const TableBuilder::Piece piece{shape.rows, shape.rows * (shape.relevant + shape.others)};
  auto writers = builder.extend({&piece, 1});
  std::vector<std::int64_t> columns;
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    columns.clear();
    double score = 0;
    for (std::size_t k = 0; k < data.relevant.size(); ++k)
      if (random.uniform() < shape.probability) {
        columns.push_back(data.relevant[k]);
        score += data.weights[k];
      }
    const std::size_t present = columns.size();
    while (columns.size() < present + static_cast<std::size_t>(shape.others)) {
      const auto column =
          static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(shape.dim)));
      if (std::binary_search(data.relevant.begin(), data.relevant.end(), column) ||
          std::find(columns.begin(), columns.end(), column) != columns.end())
        continue;
      columns.push_back(column);
    }
    std::sort(columns.begin(), columns.end());
    for (const std::int64_t column : columns) writers[0].add(static_cast<std::int32_t>(column), 1);
    const double p = 1 / (1 + std::exp(-shape.sharpness * score));
    writers[0].end_row(random.uniform() < p ? 1.0F : -1.0F);
  }
  builder.commit(writers);
  data.table = std::move(builder).finish();
  return data;
}

}  // namespace sotto
