#include "sotto/data/io/libsvm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "sotto/core/parallel.hpp"
#include "tests/data/support.hpp"

namespace sotto {
namespace {

using test::content;
using test::gzip;
using test::row_of;

class Libsvm : public test::DataTest {
 protected:
  static ReadOptions with_dim(std::int64_t dim) {
    ReadOptions options;
    options.dim = dim;
    return options;
  }
  /// Facts may be taken from the rows.
  static ReadOptions inferring() {
    ReadOptions options;
    options.public_rows = true;
    return options;
  }
  /// The content must be refused as bad data, at this place and for this reason.
  void refuse(std::string_view content,
              const std::string& place,
              const std::string& reason,
              std::int64_t dim = 10) {
    const std::string file = write("bad.svm", content);
    EXPECT_FAILS(
        read_libsvm(file, with_dim(dim)), ErrorKind::kBadData, file + place + ": " + reason);
  }
};

TEST_F(Libsvm, ReadsRowsAsWritten) {
  const std::string file = write("a.svm", "+1 1:0.5 3:-2e1\n-1 2:1\n");
  for (const Layout layout : {Layout::kDense, Layout::kSparse}) {
    ReadOptions options = with_dim(4);
    options.layout = layout;
    const auto data = read_libsvm(file, options);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(data->table.sparse(), layout == Layout::kSparse);
    EXPECT_EQ(row_of(data->table, 0), (std::vector<float>{0.5F, 0, -20, 0}));
    EXPECT_EQ(row_of(data->table, 1), (std::vector<float>{0, 1, 0, 0}));
    EXPECT_EQ(data->table.labels()[0], 1.0F);
    EXPECT_EQ(data->table.labels()[1], -1.0F);
  }
}

TEST_F(Libsvm, BlanksCommentsBlankLinesAndCrlfAreFine) {
  const std::string file = write("a.svm",
                                 "# heading 1:1\r\n"
                                 "  1\t1:1   2:2  \r\n"
                                 "\r\n"
                                 "   \n"
                                 "-1 2:3 # note 7:7\n"
                                 "-1#\n"
                                 "\n\n");
  const auto data = read_libsvm(file, with_dim(2));
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->table.rows(), 3);
  EXPECT_EQ(row_of(data->table, 0), (std::vector<float>{1, 2}));
  EXPECT_EQ(row_of(data->table, 1), (std::vector<float>{0, 3}));
  EXPECT_EQ(row_of(data->table, 2), (std::vector<float>{0, 0}));
}

TEST_F(Libsvm, LastLineNeedsNoNewline) {
  const auto data = read_libsvm(write("a.svm", "1 1:1\n-1 2:3"), with_dim(2));
  ASSERT_TRUE(data);
  EXPECT_EQ(row_of(data->table, 1), (std::vector<float>{0, 3}));
}

TEST_F(Libsvm, DimensionFromTheFileIsSaid) {
  const std::string file = write("a.svm", "1 1:1 7:1\n-1 2:3\n");
  const auto data = read_libsvm(file, inferring());
  ASSERT_TRUE(data);
  EXPECT_EQ(data->table.dim(), 7);
  ASSERT_FALSE(data->notes.empty());
  EXPECT_NE(data->notes[0].find("dim 7 taken from the largest feature index"), std::string::npos);
  const auto declared = read_libsvm(file, with_dim(9));
  ASSERT_TRUE(declared);
  EXPECT_EQ(declared->table.dim(), 9);
  for (const std::string& note : declared->notes) EXPECT_EQ(note.find("dim "), std::string::npos);
}

TEST_F(Libsvm, LayoutFollowsTheNumberOfFeaturesAlone) {
  // A quarter of the entries was once the limit: one row more or less must not cross any.
  const std::string few = write("few.svm", "1 1:1\n-1 2:1\n");
  std::string row = "1";
  for (int j = 1; j <= 65; ++j) row += ' ' + std::to_string(j) + ":1";
  const std::string many = write("many.svm", row + "\n-1 2:1\n");
  EXPECT_FALSE(read_libsvm(few, with_dim(64))->table.sparse());
  EXPECT_TRUE(read_libsvm(few, with_dim(65))->table.sparse());
  EXPECT_TRUE(read_libsvm(many, with_dim(65))->table.sparse());
  ReadOptions options = with_dim(65);
  options.layout = Layout::kDense;
  EXPECT_FALSE(read_libsvm(few, options)->table.sparse());
}

TEST_F(Libsvm, PrivateRowsNeedDeclaredFacts) {
  const std::string file = write("a.svm", "1 1:1 7:1\n-1 2:3\n");
  EXPECT_FAILS(read_libsvm(file, {}), ErrorKind::kUsage, "Give ‘dim N’");
  const auto data = read_libsvm(file, with_dim(7));
  ASSERT_TRUE(data);
  EXPECT_TRUE(data->notes.empty());
  EXPECT_EQ(data->class_names, (std::vector<std::string>{"-1", "1"})) << "the convention";
  ReadOptions several = with_dim(7);
  several.labels = LabelKind::kMulticlass;
  EXPECT_FAILS(read_libsvm(file, several), ErrorKind::kUsage, "Give ‘classes’");
}

TEST_F(Libsvm, TwoClassesMapSmallerToMinusOne) {
  for (const auto& [low, high] : std::vector<std::pair<std::string, std::string>>{
           {"-1", "+1"}, {"0", "1"}, {"1", "2"}, {"-1.0", "1.0"}, {"3", "7.5"}}) {
    const std::string text = high + " 1:1\n" + low + " 1:2\n" + high + " 1:3\n";
    const auto data = read_libsvm(write("a.svm", text), inferring());
    ASSERT_TRUE(data);
    const auto labels = data->table.labels();
    EXPECT_EQ(std::vector<float>(labels.begin(), labels.end()), (std::vector<float>{1, -1, 1}));
    EXPECT_EQ(data->class_names.size(), 2U);
  }
}

TEST_F(Libsvm, LabelsThatAreNotTwoClasses) {
  const std::string three = write("three.svm", "1 1:1\n2 1:1\n3 1:1\n");
  EXPECT_FAILS(read_libsvm(three, inferring()),
               ErrorKind::kBadData,
               "the labels are not two classes, but more");
  const std::string one = write("one.svm", "1 1:1\n1 1:1\n");
  EXPECT_FAILS(read_libsvm(one, inferring()),
               ErrorKind::kBadData,
               "the labels are not two classes, but only one");

  ReadOptions declared = with_dim(1);
  declared.classes = {"-1", "1"};
  const auto data = read_libsvm(one, declared);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->table.labels()[0], 1.0F);
  EXPECT_EQ(data->class_names, declared.classes);
  EXPECT_FAILS(read_libsvm(three, declared),
               ErrorKind::kBadData,
               "three.svm:2:1: the label is not one of the declared classes (-1, 1)");
  declared.classes = {"yes", "no"};
  EXPECT_FAILS(read_libsvm(one, declared), ErrorKind::kUsage, "must be a number");
  declared.classes = {"1"};
  EXPECT_FAILS(read_libsvm(one, declared), ErrorKind::kUsage, "needs 2 classes, but 1");
}

TEST_F(Libsvm, MulticlassAndRealLabels) {
  const std::string file = write("a.svm", "7 1:1\n-2 1:1\n3 1:1\n7 1:1\n");
  ReadOptions options = inferring();
  options.labels = LabelKind::kMulticlass;
  const auto classes = read_libsvm(file, options);
  ASSERT_TRUE(classes);
  const auto labels = classes->table.labels();
  EXPECT_EQ(std::vector<float>(labels.begin(), labels.end()), (std::vector<float>{2, 0, 1, 2}));
  EXPECT_EQ(classes->class_names, (std::vector<std::string>{"-2", "3", "7"}));
  options.labels = LabelKind::kReal;
  const auto real = read_libsvm(file, options);
  ASSERT_TRUE(real);
  EXPECT_EQ(real->table.labels()[1], -2.0F);
  options.labels = LabelKind::kMulticlass;
  EXPECT_FAILS(read_libsvm(write("b.svm", "0.5 1:1\n1 1:1\n"), options),
               ErrorKind::kBadData,
               "not whole numbers");
}

TEST_F(Libsvm, NumbersRoundAsStrtodDoes) {
  std::mt19937_64 generator(7);
  std::string text;
  std::vector<float> expected;
  for (int i = 0; i < 20000; ++i) {
    std::array<char, 64> number{};
    const double mantissa = static_cast<double>(generator() % 2000001) - 1e6;
    const int kind = i % 4;
    const int power = static_cast<int>(generator() % 60) - 30;
    if (kind == 0)
      std::snprintf(number.data(), number.size(), "%.17g", mantissa * std::pow(10, power));
    if (kind == 1) std::snprintf(number.data(), number.size(), "%.6f", mantissa / 997);
    if (kind == 2) std::snprintf(number.data(), number.size(), "%ge%d", mantissa, power);
    if (kind == 3) std::snprintf(number.data(), number.size(), "%.25f", mantissa / 997e4);
    text += (i % 2 == 0 ? "1 1:" : "-1 1:") + std::string(number.data()) + "\n";
    expected.push_back(static_cast<float>(std::strtod(number.data(), nullptr)));
  }
  const auto data = read_libsvm(write("a.svm", text), with_dim(1));
  ASSERT_TRUE(data) << data.error().message;
  for (std::int64_t i = 0; i < data->table.rows(); ++i)
    ASSERT_EQ(row_of(data->table, i)[0], expected[static_cast<std::size_t>(i)]) << i;
}

TEST_F(Libsvm, OddNumbers) {
  const auto data = read_libsvm(
      write("a.svm", "1 1:.5 2:5. 3:1E2 4:1e-400 5:0.0000000000000000000000001 6:-0\n-1\n"),
      with_dim(6));
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(row_of(data->table, 0), (std::vector<float>{0.5F, 5, 100, 0, 1e-25F, 0}));
}

TEST_F(Libsvm, BadFiles) {
  EXPECT_FAILS(
      read_libsvm(path("none.svm"), inferring()), ErrorKind::kIo, "none.svm: can't open the file");
  EXPECT_FAILS(read_libsvm(path(""), inferring()), ErrorKind::kIo, "is a directory");
  EXPECT_FAILS(
      read_libsvm(write("empty.svm", ""), inferring()), ErrorKind::kBadData, "the file is empty");
  EXPECT_FAILS(read_libsvm(write("blank.svm", " \n# nothing\n\n"), inferring()),
               ErrorKind::kBadData,
               "the file has no rows");
  EXPECT_FAILS(read_libsvm(write("labels.svm", "1\n-1\n"), inferring()),
               ErrorKind::kBadData,
               "no row has a feature");
  EXPECT_FAILS(
      read_libsvm(write("empty.gz", gzip("")), inferring()), ErrorKind::kBadData, "no rows");
}

TEST_F(Libsvm, BadLinesNamePlaceAndRule) {
  refuse("1 1:1\n-1 x:1\n", ":2:2", "the feature index is not a whole number");
  refuse("1 1:1\n-1 2.5:1\n", ":2:2", "the feature index is not a whole number");
  refuse("1 -3:1\n", ":1:2", "the feature index is not a whole number");
  refuse("1 3\n", ":1:2", "the feature index is not a whole number");
  refuse("1 :3\n", ":1:2", "the feature index is not a whole number");
  refuse("1 0:1\n", ":1:2", "the feature index is 0, but indices start at 1");
  refuse("1 3:1 2:1\n", ":1:3", "the feature index decreases");
  refuse("1 3:1 3:1\n", ":1:3", "the feature index is repeated");
  refuse("1 11:1\n", ":1:2", "the feature index is above the declared dimension");
  refuse("1 99999999999999999999:1\n", ":1:2", "the feature index is too large");
  refuse("1 1:nan\n", ":1:2", "the value is not finite");
  refuse("1 1:-inf\n", ":1:2", "the value is not finite");
  refuse("1 1:1e39\n", ":1:2", "the value is not finite");
  refuse("1 1:1e999\n", ":1:2", "the value is not finite");
  refuse("1 1:1x\n", ":1:2", "the value is not a number");
  refuse("1 1:\n", ":1:2", "the value is not a number");
  refuse("1 1: 2\n", ":1:2", "the value is not a number");
  refuse("1 1:+-2\n", ":1:2", "the value is not a number");
  refuse("1 1:1e\n", ":1:2", "the value is not a number");
  refuse("nan 1:1\n", ":1:1", "the label is not one of the declared classes");
  refuse("yes 1:1\n", ":1:1", "the label is not a number");
  refuse("1:1 2:1\n", ":1:1", "the label is not a number");
  refuse("\n\n#\n1 1:1\r\n  1 0:1", ":5:2", "the feature index is 0");
  refuse(std::string("1 1:1\0 2:1\n", 11), ":1:2", "the value is not a number");
}

TEST_F(Libsvm, MessagesNeverQuoteARow) {
  const std::string file = write("a.svm", "777 12345:secret\n1 54321:666,5\n-1 0:31337\n888 1:1\n");
  const auto data = read_libsvm(file, with_dim(100));
  ASSERT_FALSE(data);
  for (const char* word : {"777", "888", "999", "12345", "54321", "secret", "666", "31337"})
    EXPECT_EQ(data.error().message.find(word), std::string::npos) << data.error().message;
}

TEST_F(Libsvm, TheFirstTenBadLinesAreShownTogether) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += "1 1:1\n1 0:1\n";
  const auto data = read_libsvm(write("a.svm", text), with_dim(3));
  ASSERT_FALSE(data);
  const std::string& message = data.error().message;
  for (int i = 1; i <= 10; ++i)
    EXPECT_NE(message.find("a.svm:" + std::to_string(2 * i) + ":2: "), std::string::npos) << i;
  EXPECT_EQ(message.find("a.svm:22:"), std::string::npos);
  EXPECT_NE(message.find("25 rows do not fit what is declared; the first 10 are shown"),
            std::string::npos);
}

TEST_F(Libsvm, BadOptions) {
  const std::string file = write("a.svm", "1 1:1\n-1 1:2\n");
  EXPECT_FAILS(read_libsvm(file, with_dim(-3)), ErrorKind::kUsage, "dim must be between 1");
  ReadOptions options = with_dim(1);
  options.row_norm = -1;
  EXPECT_FAILS(read_libsvm(file, options), ErrorKind::kUsage, "row_norm must be finite and > 0");
  options.row_norm = NAN;
  EXPECT_FAILS(read_libsvm(file, options), ErrorKind::kUsage, "row_norm must be finite and > 0");
}

TEST_F(Libsvm, RowNormAndBias) {
  ReadOptions options = with_dim(2);
  options.row_norm = 1;
  options.bias = true;
  const auto data = read_libsvm(write("a.svm", "1 1:3 2:4\n-1 1:0.1\n"), options);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->table.dim(), 3);
  EXPECT_EQ(data->row_norm_bound, 1);
  for (const double norm : data->table.norms()) EXPECT_LE(norm, 1.0);
  EXPECT_NEAR(row_of(data->table, 0)[2], 1 / std::sqrt(26.0), 1e-6);
}

/// Rows enough for several batches and chunks, with a fault on demand.
std::string large_text(std::int64_t rows, std::int64_t bad_row = -1) {
  std::mt19937 generator(11);
  std::string text;
  for (std::int64_t i = 0; i < rows; ++i) {
    text += generator() % 2 == 0 ? "+1" : "-1";
    for (int j = 1; j <= 40; j += 1 + static_cast<int>(generator() % 5)) {
      text += ' ' + std::to_string(j) + ':' + std::to_string(generator() % 100000) + "e-4";
    }
    if (i == bad_row) text += " 7:1";
    text += '\n';
  }
  return text;
}

TEST_F(Libsvm, ResultDoesNotDependOnThreadsOrCompression) {
  const std::string text = large_text(60000);
  ASSERT_GT(text.size(), std::size_t{8} << 20);
  const std::string plain = write("a.svm", text);
  const std::string packed = write("b.dat.gz", gzip(text));
  set_thread_count(1);
  const auto one = read_libsvm(plain, inferring());
  set_thread_count(7);
  const auto seven = read_libsvm(plain, inferring());
  const auto seven_packed = read_libsvm(packed, inferring());
  set_thread_count(0);
  ASSERT_TRUE(one && seven && seven_packed);
  EXPECT_EQ(one->table.rows(), 60000);
  EXPECT_EQ(one->table.dim(), 40);
  EXPECT_EQ(content(one->table), content(seven->table));
  EXPECT_EQ(content(one->table), content(seven_packed->table));
}

TEST_F(Libsvm, LineNumbersAreRightDeepInAFile) {
  const std::string file = write("a.svm", large_text(50000, 49990));
  EXPECT_FAILS(read_libsvm(file, with_dim(40)), ErrorKind::kBadData, "a.svm:49991:");
}

TEST_F(Libsvm, ALineLongerThanABatch) {
  std::string text = "1";
  for (int j = 1; j <= 500000; ++j) text += ' ' + std::to_string(j) + ":0.25";
  text += "\n-1 3:1\n";
  const auto data = read_libsvm(write("a.svm", text), inferring());
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->table.dim(), 500000);
  EXPECT_NEAR(data->table.norms()[0] / (0.25 * std::sqrt(500000.0)), 1, 500010 * 0x1p-53);
}

TEST_F(Libsvm, WhatIsWrittenReadsBackTheSame) {
  const auto first = read_libsvm(write("a.svm", large_text(500)), inferring());
  ASSERT_TRUE(first);
  for (const Layout layout : {Layout::kDense, Layout::kSparse}) {
    ReadOptions options = with_dim(40);
    options.layout = layout;
    for (const char* name : {"out.svm", "out.svm.gz"}) {
      ASSERT_TRUE(write_libsvm(path(name), first->table));
      const auto again = read_libsvm(path(name), options);
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(content(first->table), content(again->table));
    }
  }
  EXPECT_EQ(test::read_all(path("out.svm.gz")).substr(0, 2), "\x1f\x8b");
}

TEST_F(Libsvm, WritingFailsCleanly) {
  const auto data = read_libsvm(write("a.svm", "1 1:1\n-1 1:2\n"), inferring());
  ASSERT_TRUE(data);
  EXPECT_FAILS(write_libsvm(path("no/such/place.svm"), data->table), ErrorKind::kIo, "can't write");
  std::filesystem::create_directory(path("taken"));
  EXPECT_FAILS(write_libsvm(path("taken"), data->table), ErrorKind::kIo, "can't write");
  for (const auto& entry : std::filesystem::directory_iterator(path("")))
    EXPECT_EQ(entry.path().string().find("partial"), std::string::npos)
        << "no partial file is left";
  const std::vector<float> values = {1, 2, 3};
  const std::vector<std::int64_t> units = {5, 5, 6};
  const Table persons = TableBuilder::dense(3, 1, values, {1, 1, -1}, {}, units);
  EXPECT_FAILS(write_libsvm(path("p.svm"), persons), ErrorKind::kUsage, "belong to persons");
}

TEST_F(Libsvm, KnownDataSets) {
  const std::string folder = std::string(SOTTO_SHARED_DIR) + "/data/libsvm/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "needs " << folder;
  const auto data = read_libsvm(folder + "a9a.gz", inferring());
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->table.rows(), 32561);
  EXPECT_EQ(data->table.dim(), 123);
  EXPECT_EQ(std::ranges::count(data->table.labels(), 1.0F), 7841);
  EXPECT_NEAR(std::ranges::max(data->table.norms()), std::sqrt(14.0), 1e-12);
  const auto test = read_libsvm(folder + "a9a.t.gz", with_dim(123));
  ASSERT_TRUE(test);
  EXPECT_EQ(test->table.rows(), 16281);
  const auto ijcnn = read_libsvm(folder + "ijcnn1.tr.gz", inferring());
  ASSERT_TRUE(ijcnn);
  EXPECT_EQ(ijcnn->table.rows(), 35000);
  EXPECT_EQ(ijcnn->table.dim(), 22);
}

}  // namespace
}  // namespace sotto
