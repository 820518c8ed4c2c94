#pragma once

// Rows for the tests of Hessians.

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "sotto/core/vector.hpp"
#include "sotto/data/table.hpp"

namespace sotto::testing {

struct Rows {
  std::vector<std::vector<double>> x;
  std::vector<double> y;
  std::vector<std::int64_t> persons;
  Table table(bool sparse = false) const {
    const auto dim = static_cast<std::int64_t>(x[0].size());
    std::vector<float> values, labels(y.begin(), y.end());
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> columns;
    for (const auto& row : x) {
      for (std::size_t j = 0; j < row.size(); ++j) {
        values.push_back(static_cast<float>(row[j]));
        columns.push_back(static_cast<std::int32_t>(j));
      }
      offsets.push_back(std::ssize(values));
    }
    return sparse ? TableBuilder::sparse(dim, offsets, columns, values, labels, {}, persons)
                  : TableBuilder::dense(std::ssize(x), dim, values, labels, {}, persons);
  }
};

inline Rows random_rows(std::int64_t n, std::int64_t dim, unsigned seed, double scale = 0.5) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  Rows rows;
  for (std::int64_t i = 0; i < n; ++i) {
    rows.x.emplace_back();
    for (std::int64_t j = 0; j < dim; ++j)
      rows.x.back().push_back(static_cast<double>(static_cast<float>(scale) * normal(random)));
    rows.y.push_back(random() % 2 ? 1 : -1);
  }
  return rows;
}

inline Vector wave(std::int64_t dim, double scale) {
  Vector w(dim);
  for (Eigen::Index j = 0; j < dim; ++j) w[j] = scale * std::sin(static_cast<double>(3 * j + 1));
  return w;
}

}  // namespace sotto::testing
