#include "sotto/data/table.hpp"

#include <cmath>
#include <random>

#include "tests/data/support.hpp"

namespace sotto {
namespace {

using test::content;
using test::row_of;

std::vector<float> random_values(std::size_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

/// The exact norm to long double precision (64 bits of mantissa: 11 more than the claim needs).
long double exact_norm(const std::vector<float>& row) {
  long double sum = 0;
  for (const float value : row) sum += static_cast<long double>(value) * value;
  return std::sqrt(sum);
}

struct Csr {
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
};

Csr to_csr(const std::vector<float>& values, std::size_t dim) {
  Csr csr;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k] != 0) {
      csr.columns.push_back(static_cast<std::int32_t>(k % dim));
      csr.values.push_back(values[k]);
    }
    if (k % dim == dim - 1) csr.offsets.push_back(std::ssize(csr.values));
  }
  return csr;
}

TEST(Table, DenseRowsAreAlignedPaddedAndKept) {
  const auto values = random_values(5 * 11, 1);
  const Table table = TableBuilder::dense(5, 11, values, {1, -1, 1, -1, 1}, {});
  EXPECT_EQ(table.rows(), 5);
  EXPECT_EQ(table.dim(), 11);
  EXPECT_EQ(table.stride(), 16);
  EXPECT_EQ(table.units(), 5);
  EXPECT_FALSE(table.has_units());
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(table.row(i)) % 32, 0U);
    for (std::int64_t j = 0; j < 16; ++j)
      EXPECT_EQ(table.row(i)[j], j < 11 ? values[static_cast<std::size_t>(i * 11 + j)] : 0.0F);
  }
  EXPECT_EQ(table.bytes(), 5U * 16 * 4 + 5 * 4 + 5 * 8);
}

TEST(Table, NormsAreNeverBelowAndHardlyAboveTheTruth) {
  for (const std::int64_t dim : {1, 2, 3, 14, 100, 1000}) {
    const auto values = random_values(static_cast<std::size_t>(200 * dim), 2);
    const Table table = TableBuilder::dense(200, dim, values, std::vector<float>(200, 1.0F), {});
    for (std::int64_t i = 0; i < 200; ++i) {
      const long double truth = exact_norm(row_of(table, i));
      const auto norm = static_cast<long double>(table.norms()[static_cast<std::size_t>(i)]);
      EXPECT_GE(norm, truth);
      EXPECT_LE(norm, truth * (1 + static_cast<long double>(2 * dim + 8) * 0x1p-53L));
    }
  }
}

TEST(Table, ExtremeFloatsHaveFiniteNorms) {
  const std::vector<float> values = {3.4e38F, 3.4e38F, 1e-45F, 0.0F};
  const Table table = TableBuilder::dense(2, 2, values, {1, -1}, {});
  EXPECT_TRUE(std::isfinite(table.norms()[0]));
  EXPECT_GE(table.norms()[0], 3.4e38 * std::sqrt(2.0) * (1 - 1e-7));
  EXPECT_GE(table.norms()[1], static_cast<double>(1e-45F));
}

TEST(Table, RowNormRescalesLongRowsOnly) {
  const std::vector<float> values = {3, 4, 0.3F, 0.4F, 1, 0};
  for (const bool sparse : {false, true}) {
    const Csr csr = to_csr(values, 2);
    const TableBuilder::Options options{1.0, false};
    const Table table =
        sparse ? TableBuilder::sparse(2, csr.offsets, csr.columns, csr.values, {1, 1, 1}, options)
               : TableBuilder::dense(3, 2, values, {1, 1, 1}, options);
    EXPECT_NEAR(row_of(table, 0)[0], 0.6, 1e-6);
    EXPECT_NEAR(row_of(table, 0)[1], 0.8, 1e-6);
    EXPECT_LE(table.norms()[0], 1.0);
    EXPECT_EQ(row_of(table, 1), (std::vector<float>{0.3F, 0.4F}));
    EXPECT_EQ(row_of(table, 2), (std::vector<float>{1, 0})) << "a row of norm R stays as it is";
  }
}

TEST(Table, RescaledNormsNeverExceedTheBound) {
  for (const double bound : {1e-3, 0.7, 1.0, 3.7417, 1e6}) {
    auto values = random_values(500 * 20, 3);
    for (float& value : values) value *= 1e7F;
    const Table table =
        TableBuilder::dense(500, 20, values, std::vector<float>(500, 1.0F), {bound, true});
    for (const double norm : table.norms()) {
      EXPECT_LE(norm, bound);
      EXPECT_GE(norm, bound * (1 - 1e-6));
    }
  }
}

TEST(Table, BiasIsTheLastColumnAndCounts) {
  const std::vector<float> values = {2, 0, 0, 0.5F};
  for (const bool sparse : {false, true}) {
    const Csr csr = to_csr(values, 2);
    const Table table =
        sparse ? TableBuilder::sparse(2, csr.offsets, csr.columns, csr.values, {1, -1}, {0, true})
               : TableBuilder::dense(2, 2, values, {1, -1}, {0, true});
    EXPECT_EQ(table.dim(), 3);
    EXPECT_EQ(row_of(table, 0), (std::vector<float>{2, 0, 1}));
    EXPECT_EQ(row_of(table, 1), (std::vector<float>{0, 0.5F, 1}));
    EXPECT_NEAR(table.norms()[0], std::sqrt(5.0), 1e-12);
  }
}

TEST(Table, UnitsAreBroughtTogetherStably) {
  std::mt19937 generator(4);
  for (const std::int64_t rows : {1, 2, 7, 100, 1000}) {
    const std::int64_t dim = 9;
    auto values = random_values(static_cast<std::size_t>(rows * dim), 5);
    for (float& value : values)
      if (generator() % 3 == 0) value = 0;
    std::vector<float> labels;
    std::vector<std::int64_t> units;
    for (std::int64_t i = 0; i < rows; ++i) {
      labels.push_back(static_cast<float>(i));
      units.push_back(static_cast<std::int64_t>(generator() % 37) - 18);
    }
    // The plain way: units by first appearance, rows in order.
    std::vector<std::int64_t> expected;
    std::vector<std::int64_t> begins;
    std::vector<bool> done(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (done[i]) continue;
      begins.push_back(std::ssize(expected));
      for (std::size_t k = i; k < units.size(); ++k) {
        if (units[k] != units[i]) continue;
        expected.push_back(static_cast<std::int64_t>(k));
        done[k] = true;
      }
    }
    begins.push_back(rows);

    const Csr csr = to_csr(values, static_cast<std::size_t>(dim));
    const Table dense = TableBuilder::dense(rows, dim, values, labels, {}, units);
    const Table sparse =
        TableBuilder::sparse(dim, csr.offsets, csr.columns, csr.values, labels, {}, units);
    for (const Table* table : {&dense, &sparse}) {
      ASSERT_TRUE(table->has_units());
      ASSERT_EQ(table->units(), std::ssize(begins) - 1);
      for (std::int64_t u = 0; u <= table->units(); ++u)
        EXPECT_EQ(table->unit_begin(u), begins[static_cast<std::size_t>(u)]);
      for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t source = expected[static_cast<std::size_t>(i)];
        EXPECT_EQ(table->labels()[static_cast<std::size_t>(i)], static_cast<float>(source));
        const auto begin = values.begin() + source * dim;
        EXPECT_EQ(row_of(*table, i), std::vector<float>(begin, begin + dim));
        EXPECT_NEAR(table->norms()[static_cast<std::size_t>(i)],
                    static_cast<double>(exact_norm(row_of(*table, i))),
                    1e-12);
      }
    }
  }
}

/// Of units 0, 1, 2, whose rows take turns, row i is of unit units[i] and holds i + 1; misfits are
/// null rows.
Table kept_rows(bool is_sparse,
                std::int64_t most,
                const std::vector<std::int64_t>& units,
                const std::vector<std::int64_t>& misfits = {}) {
  TableBuilder::Options options;
  options.most_rows = most;
  TableBuilder builder(3, is_sparse, options, true);
  const TableBuilder::Piece all{std::ssize(units), 3 * std::ssize(units)};
  auto writers = builder.extend({&all, 1});
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto value = static_cast<float>(i + 1);
    writers[0].add(static_cast<std::int32_t>(i % 2), value);
    if (i % 3 == 0) writers[0].add(2, value);
    const std::string name = std::to_string(units[i]);
    if (std::ranges::count(misfits, static_cast<std::int64_t>(i)) > 0)
      writers[0].end_null_row(-1, name);
    else
      writers[0].end_row(value, name);
  }
  builder.commit(writers);
  return std::move(builder).finish();
}

/// The labels of unit u: which of the file's rows it has.
std::vector<float> rows_of(const Table& table, std::int64_t u) {
  const auto labels = table.labels();
  return {labels.begin() + table.unit_begin(u), labels.begin() + table.unit_begin(u + 1)};
}

TEST(TableBuilder, KeepsTheFirstRowsOfEachPerson) {
  const std::vector<std::int64_t> units = {0, 1, 0, 2, 1, 0, 0, 1};
  for (const bool is_sparse : {false, true}) {
    const Table all = kept_rows(is_sparse, 0, units);
    EXPECT_EQ(rows_of(all, 0), (std::vector<float>{1, 3, 6, 7}));
    const Table two = kept_rows(is_sparse, 2, units);
    ASSERT_EQ(two.units(), 3);
    EXPECT_EQ(two.rows(), 5);
    EXPECT_EQ(rows_of(two, 0), (std::vector<float>{1, 3}));
    EXPECT_EQ(rows_of(two, 1), (std::vector<float>{2, 5}));
    EXPECT_EQ(rows_of(two, 2), (std::vector<float>{4}));
    EXPECT_TRUE(two.null_units().empty());
    // The rows themselves moved with their labels.
    for (std::int64_t i = 0; i < two.rows(); ++i) {
      const float value = two.labels()[static_cast<std::size_t>(i)];
      std::vector<float> expected(3);
      const int source = static_cast<int>(value) - 1;
      expected[static_cast<std::size_t>(source % 2)] = value;
      if (source % 3 == 0) expected[2] = value;
      EXPECT_EQ(row_of(two, i), expected);
      EXPECT_NEAR(two.norms()[static_cast<std::size_t>(i)],
                  static_cast<double>(exact_norm(expected)),
                  1e-12);
    }
    if (is_sparse) {
      EXPECT_EQ(two.offsets().back(), std::ssize(two.values()));
    }
    EXPECT_EQ(kept_rows(is_sparse, 100, units).rows(), 8);
  }
}

TEST(TableBuilder, WithOneRowEachPersonsAreRows) {
  for (const bool is_sparse : {false, true}) {
    const Table one = kept_rows(is_sparse, 1, {0, 1, 0, 2, 1}, {3});
    EXPECT_FALSE(one.has_units());
    EXPECT_EQ(one.units(), 3);
    EXPECT_EQ(one.rows(), 3);
    EXPECT_TRUE(one.is_null_unit(2));
    EXPECT_FALSE(one.is_null_unit(1));
  }
}

// Rows that don't fit are left out before the others are counted, and a person of such rows alone
// is a null unit, as without a limit.
TEST(TableBuilder, RowsThatDontFitAreNotCounted) {
  for (const bool is_sparse : {false, true}) {
    const Table table = kept_rows(is_sparse, 2, {0, 0, 0, 1, 0, 1}, {0, 3, 5});
    ASSERT_EQ(table.units(), 2);
    EXPECT_EQ(rows_of(table, 0), (std::vector<float>{2, 3}));
    EXPECT_TRUE(table.is_null_unit(1));
    EXPECT_EQ(table.rows(), 3);
  }
}

// What a limit leaves of one person follows from her own rows: neighbours stay neighbours. A twin
// that counts the file's rows, whoever they belong to, changes other persons.
TEST(TableBuilder, ALimitPerPersonTouchesNobodyElse) {
  const std::vector<std::int64_t> few = {0, 1, 0, 2, 1, 0};
  const std::vector<std::int64_t> many = {0, 1, 2, 2, 2, 0, 2, 1, 2, 0};
  const auto counts = [](const Table& table) {
    std::vector<std::size_t> result;
    for (std::int64_t u = 0; u < 2; ++u) result.push_back(rows_of(table, u).size());
    return result;
  };
  EXPECT_EQ(counts(kept_rows(false, 2, few)), counts(kept_rows(false, 2, many)));
  const auto twin = [&](std::vector<std::int64_t> units) {
    units.resize(5);
    return counts(kept_rows(false, 0, units));
  };
  EXPECT_NE(twin(few), twin(many));
}

TEST(TableBuilder, PiecesThatUseLessThanTheyReservedLeaveNoGap) {
  for (const bool bias : {false, true}) {
    TableBuilder builder(10, true, {0, bias});
    std::vector<std::vector<float>> expected;
    for (int batch = 0; batch < 3; ++batch) {
      const std::vector<TableBuilder::Piece> pieces = {{2, 20}, {0, 0}, {1, 10}, {3, 30}};
      auto writers = builder.extend(pieces);
      for (std::size_t k = 0; k < pieces.size(); ++k) {
        for (std::int64_t r = 0; r < pieces[k].rows; ++r) {
          std::vector<float> row(bias ? 11 : 10);
          for (std::int32_t j = static_cast<std::int32_t>(r); j < 10; j += 4) {
            row[static_cast<std::size_t>(j)] = static_cast<float>(batch + j + 1);
            writers[k].add(j, static_cast<float>(batch + j + 1));
          }
          if (bias) row[10] = 1;
          writers[k].end_row(1);
          expected.push_back(row);
        }
      }
      builder.commit(writers);
    }
    const Table table = std::move(builder).finish();
    ASSERT_EQ(table.rows(), std::ssize(expected));
    EXPECT_EQ(table.offsets().back(), std::ssize(table.values()));
    for (std::int64_t i = 0; i < table.rows(); ++i)
      EXPECT_EQ(row_of(table, i), expected[static_cast<std::size_t>(i)]);
  }
}

TEST(TableBuilder, AnIncompletePieceIsABug) {
  TableBuilder builder(1, false, {});
  const TableBuilder::Piece two{2, 2};
  auto writers = builder.extend({&two, 1});
  writers[0].end_row(1);
  EXPECT_THROW(builder.commit(writers), std::logic_error);
}

TEST(PagedArray, GrowsInAFileWithoutAName) {
  PagedArray<int> array(PageFile::create("", 100).value());
  array.grow(10);
  for (std::size_t i = 0; i < 10; ++i) array[i] = static_cast<int>(i) + 1;
  array.grow(100'000);
  EXPECT_EQ(array[9], 10);
  EXPECT_EQ(array[10], 0);
  EXPECT_EQ(array[99'999], 0);
  PagedArray<int> other = std::move(array);
  other.truncate(5);
  EXPECT_EQ(other[4], 5);
}

TEST(PagedArray, SaysWhereThereIsNoRoomForAFile) {
  const auto missing = PageFile::create("/nonexistent", 100);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kIo);
  EXPECT_NE(missing.error().message.find("TMPDIR"), std::string::npos);
  EXPECT_FALSE(PageFile::create("", std::size_t{1} << 55));
}

TEST(PagedArray, GrowsWithZerosAndKeepsContent) {
  PagedArray<int> array;
  PagedArray<int> beside;  // in the way, so that the pages have to move
  for (std::size_t size = 1; size < 3000000; size = size * 3 + 1) {
    const std::size_t before = array.size();
    array.grow(size);
    beside.grow(size);
    ASSERT_EQ(array.size(), size);
    for (std::size_t i = before; i < size; ++i) {
      ASSERT_EQ(array[i], 0);
      array[i] = static_cast<int>(i);
      beside[i] = -1;
    }
    // Large pages need this.
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % (2 << 20), 0U);
  }
  for (std::size_t i = 0; i < array.size(); ++i) ASSERT_EQ(array[i], static_cast<int>(i));
  array.truncate(1000);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(array[i], static_cast<int>(i));
  PagedArray<int> other = std::move(array);
  EXPECT_EQ(other.size(), 1000U);
  EXPECT_TRUE(array.empty());  // NOLINT(bugprone-use-after-move): what a move leaves is defined
  other.truncate(0);
  EXPECT_TRUE(other.empty());
}

}  // namespace
}  // namespace sotto
