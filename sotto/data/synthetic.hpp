#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sotto/data/dataset.hpp"

namespace sotto {

/// Made-up census records with a known truth, for demonstrations and tests. Nobody's data.
///
/// A record has five numbers (age, years of education, hours a week, savings, commute) and five
/// categories (sector, occupation, marital status, region, sex), drawn so that they depend on each
/// other as in a real census: marital status on age, occupation on education, hours on sector.
/// Encoded by the schema of census_schema() it has 29 features of norm at most sqrt(10). The label
/// (income high or low) is +1 with probability 1 / (1 + exp(-<truth, x>)): a logistic model is the
/// exact truth, and no rule can be right more often than about 85 % of the time.
struct CensusData {
  Dataset data;
  std::vector<double> truth;  ///< one weight a feature; no intercept is needed (bias: weight 0)
};

/// `part` numbers independent draws from one seed (training part 0, test part 1, …).
CensusData make_census(std::int64_t rows,
                       std::uint64_t seed,
                       std::uint64_t part = 0,
                       const TableBuilder::Options& options = {});

/// The schema of the records, as TOML.
std::string census_schema();

/// Writes the records of make_census(rows, seed, part) as CSV with a header, atomically (gzip if
/// the name ends in .gz). Fails with kIo.
Expected<void> write_census_csv(const std::string& path,
                                std::int64_t rows,
                                std::uint64_t seed,
                                std::uint64_t part = 0);

}  // namespace sotto
