#include "sotto/data/row_blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/persons.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto::testing {
namespace {

using ::testing::HasSubstr;

LoadOptions rows_at(const std::string& path) {
  LoadOptions options;
  options.path = path;
  options.schema_text = kPersons;
  options.public_rows = true;
  return options;
}

// A file in blocks has the rows that it has as a whole: numbers, labels, order.
TEST(RowBlocks, AreTheFile) {
  const TempDir dir;
  std::string text = "y,who,x\n";
  for (int i = 0; i < 600'000; ++i)  // more than two batches
    text += (i % 3 == 0 ? "sick,p" : "well,p") + std::to_string(i % 1000) + ",0." +
            std::to_string(i % 977) + "\n";
  LoadOptions options = rows_at(dir.write("rows.csv", text));
  options.persons = false;
  const auto whole = load_table(options);
  ASSERT_TRUE(whole) << whole.error().message;
  options.keep = {"who", "y"};
  const auto blocks = open_rows(options);
  ASSERT_TRUE(blocks) << blocks.error().message;
  EXPECT_EQ((*blocks)->dim(), whole->table.dim());
  std::int64_t row = 0;
  int count = 0;
  for (RowBlock block;; ++count) {
    const auto more = (*blocks)->next(block);
    ASSERT_TRUE(more) << more.error().message;
    if (!*more) break;
    EXPECT_EQ(block.without_label, 0);
    ASSERT_EQ(block.kept_ends.size(), block.table.labels().size());
    for (std::size_t i = 0; i < block.table.labels().size(); ++i, ++row) {
      const auto k = static_cast<std::int64_t>(i);
      ASSERT_EQ(block.table.row(k)[0], whole->table.row(row)[0]);
      ASSERT_EQ(block.table.labels()[i], whole->table.labels()[static_cast<std::size_t>(row)]);
      ASSERT_EQ(block.kept(i),
                "p" + std::to_string(row % 1000) + (row % 3 == 0 ? ",sick," : ",well,"));
    }
  }
  EXPECT_EQ(row, 600'000);
  EXPECT_GT(count, 1);
}

TEST(RowBlocks, TrainingStillDemandsEveryColumn) {
  const TempDir dir;
  for (const char* text : {"who,x\np,0\n",
                           "x,y\n0,sick\n",
                           "who,x,y,more\np,0,sick,1\n",
                           "who,x,y\n,0,sick\n",
                           "who,x,y\np,0,\n"}) {
    const auto options = rows_at(dir.write("rows.csv", text));
    EXPECT_FALSE(load_table(options)) << text;
    const auto blocks = open_rows(options);
    ASSERT_TRUE(blocks) << text << blocks.error().message;
    RowBlock block;
    const auto more = (*blocks)->next(block);
    ASSERT_TRUE(more) << text << more.error().message;
    EXPECT_EQ(block.table.labels().size(), 1u);
  }
}

TEST(RowBlocks, AFileOfNoRowsIsRefused) {
  const TempDir dir;
  const auto blocks = open_rows(rows_at(dir.write("rows.csv", "x\n\n")));
  ASSERT_TRUE(blocks);
  RowBlock block;
  const auto more = (*blocks)->next(block);
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr("no rows"));
}

// A header far behind the file's beginning, which can't be read twice.
TEST(RowBlocks, TheHeaderMayStandAfterABlockOfComments) {
  const TempDir dir;
  std::string text;
  while (text.size() < (std::size_t{9} << 20)) text += "# a comment\n";
  const auto comments = std::count(text.begin(), text.end(), '\n');
  LoadOptions options = rows_at(dir.write("rows.csv", text + "x\n0.5\nnone\n"));
  options.schema_text.replace(options.schema_text.find("header"), 0, "comment = \"#\"\n");
  const auto blocks = open_rows(options);
  ASSERT_TRUE(blocks) << blocks.error().message;
  RowBlock block;
  const auto more = (*blocks)->next(block);
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr("rows.csv:" + std::to_string(comments + 3) + ":1"));
}

}  // namespace
}  // namespace sotto::testing
