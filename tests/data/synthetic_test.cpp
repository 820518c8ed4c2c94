#include "sotto/data/synthetic.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/data/io/csv.hpp"
#include "tests/data/support.hpp"

namespace sotto {
namespace {

using test::content;
using test::row_of;

class Census : public test::DataTest {};

double probability(const CensusData& census, std::int64_t row) {
  double logit = 0;
  const auto x = row_of(census.data.table, row);
  for (std::size_t j = 0; j < x.size(); ++j) logit += census.truth[j] * static_cast<double>(x[j]);
  return 1 / (1 + std::exp(-logit));
}

TEST_F(Census, IsWhatItsDescriptionSays) {
  const CensusData census = make_census(20000, 1);
  const Table& table = census.data.table;
  EXPECT_EQ(table.rows(), 20000);
  EXPECT_EQ(table.dim(), 29);
  EXPECT_EQ(census.truth.size(), 29U);
  EXPECT_EQ(census.data.feature_names.size(), 29U);
  EXPECT_DOUBLE_EQ(census.data.row_norm_bound, std::sqrt(10));
  EXPECT_LE(*std::max_element(table.norms().begin(), table.norms().end()),
            std::sqrt(10) * (1 + 1e-12));
  double bayes = 0;
  for (std::int64_t i = 0; i < table.rows(); ++i) {
    const double p = probability(census, i);
    bayes += std::max(p, 1 - p);
  }
  EXPECT_GT(bayes / 20000, 0.83);
  EXPECT_LT(bayes / 20000, 0.86);
}

/// Sum of (label is +1) - p over the rows where x_j weighs in, in standard deviations, for each
/// feature: if the labels follow the truth each is nearly a standard normal. The largest of 29
/// beyond 6.5 has probability below 29 * 8.1e-11 < 1e-6 (the weights make the sums only
/// approximately normal; n is large).
double largest_deviation(const CensusData& census, double factor) {
  const Table& table = census.data.table;
  std::vector<double> sums(29), variances(29);
  for (std::int64_t i = 0; i < table.rows(); ++i) {
    const double honest = probability(census, i);
    const double p = 1 / (1 + std::pow((1 - honest) / honest, factor));
    const auto x = row_of(table, i);
    const double high = table.labels()[static_cast<std::size_t>(i)] > 0 ? 1 : 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      sums[j] += static_cast<double>(x[j]) * (high - p);
      variances[j] += static_cast<double>(x[j] * x[j]) * p * (1 - p);
    }
  }
  double largest = 0;
  for (std::size_t j = 0; j < sums.size(); ++j)
    largest = std::max(largest, std::abs(sums[j]) / std::sqrt(variances[j]));
  return largest;
}

TEST_F(Census, LabelsFollowTheTruth) {
  const CensusData census = make_census(50000, 2);
  EXPECT_LT(largest_deviation(census, 1), 6.5);
  EXPECT_GT(largest_deviation(census, 1.5), 6.5) << "power: logits wrong by x1.5 must show";
}

TEST_F(Census, SeedAndPartDecide) {
  EXPECT_EQ(content(make_census(300, 5).data.table), content(make_census(300, 5).data.table));
  EXPECT_NE(content(make_census(300, 5).data.table), content(make_census(300, 6).data.table));
  EXPECT_NE(content(make_census(300, 5, 0).data.table), content(make_census(300, 5, 1).data.table));
}

TEST_F(Census, FileAndSchemaGiveTheSameTable) {
  const auto schema = Schema::parse(census_schema(), "census.toml");
  ASSERT_TRUE(schema) << schema.error().message;
  ASSERT_TRUE(write_census_csv(path("c.csv.gz"), 500, 3, 1));
  ReadOptions options;
  options.layout = Layout::kDense;
  options.bias = true;
  options.row_norm = 2;
  const auto read = read_csv(path("c.csv.gz"), *schema, options);
  ASSERT_TRUE(read) << read.error().message;
  const CensusData made = make_census(500, 3, 1, {2, true});
  EXPECT_EQ(content(read->table), content(made.data.table));
  EXPECT_EQ(read->feature_names, made.data.feature_names);
  EXPECT_EQ(read->class_names, made.data.class_names);
  EXPECT_EQ(read->row_norm_bound, made.data.row_norm_bound);
  EXPECT_EQ(made.truth.size(), 30U);
  EXPECT_FAILS(write_census_csv(path("no/c.csv"), 5, 3), ErrorKind::kIo, "can't write");
}

}  // namespace
}  // namespace sotto
