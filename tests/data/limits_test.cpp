// How large what is read may be: files, what they unpack to, lines and fields.

#include "sotto/data/limits.hpp"

#include <sys/stat.h>

#include "sotto/data/io/csv.hpp"
#include "sotto/data/io/libsvm.hpp"
#include "sotto/data/load.hpp"
#include "tests/data/support.hpp"

namespace sotto {
namespace {

using test::gzip;

class Limits : public test::DataTest {
 protected:
  static LoadOptions two_features(const std::string& path) {
    LoadOptions options;
    options.path = path;
    options.dim = 2;
    return options;
  }
  static std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int k = 0; k < times; ++k) all += text;
    return all;
  }
};

TEST_F(Limits, OfAFile) {
  const std::string row = "+1 1:1\n";
  LoadOptions options = two_features(write("a.svm", row + row));
  options.limits.file_bytes = 14;
  EXPECT_TRUE(load_table(options));
  options.limits.file_bytes = 13;
  EXPECT_FAILS(load_table(options), ErrorKind::kBadData, "‘max_file’");
}

TEST_F(Limits, OfWhatAFileUnpacksTo) {
  const std::string rows = repeated("+1 1:1\n", 1000);
  // Each member alone is within the limit.
  LoadOptions options = two_features(write("a.svm.gz", gzip(rows) + gzip(rows)));
  options.limits.unpacked_bytes = 14'000;
  EXPECT_TRUE(load_table(options));
  options.limits.unpacked_bytes = 13'999;
  EXPECT_FAILS(load_table(options), ErrorKind::kBadData, "‘max_unpacked’");
  // What is read twice counts once.
  options.limits.unpacked_bytes = 14'000;
  options.dim = 0;
  options.public_rows = true;
  options.labels = LabelKind::kReal;
  EXPECT_TRUE(load_table(options));
}

// 1 MB that becomes more than 1 GB; the lines are blank, so that only the limit ends it.
TEST_F(Limits, ABombIsRefusedUnlessItIsAskedFor) {
  const std::string member = gzip(std::string(std::size_t{16} << 20, '\n'));
  LoadOptions options = two_features(write("bomb.svm.gz", repeated(member, 65) + gzip("+1 1:1\n")));
  EXPECT_FAILS(load_table(options), ErrorKind::kBadData, "‘max_unpacked’");
  options.limits.unpacked_bytes = std::int64_t{2} << 30;
  EXPECT_TRUE(load_table(options));
}

TEST_F(Limits, OfALine) {
  LoadOptions options = two_features(write("a.svm", "+1 1:1\n-1 1:1 # a remark\n"));
  options.limits.line_bytes = 17;
  EXPECT_TRUE(load_table(options));
  options.limits.line_bytes = 16;
  EXPECT_FAILS(load_table(options), ErrorKind::kBadData, "‘max_line’");
  options.misfits = Misfits::kNull;
  const auto data = load_table(options);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->table.units(), 2);
  EXPECT_TRUE(data->table.is_null_unit(1));
}

TEST_F(Limits, OfAField) {
  LoadOptions options;
  options.schema = write("s.toml",
                         "[[column]]\nname='who'\nkind='unit'\n"
                         "[[column]]\nname='x'\nkind='numeric'\nmin=0\nmax=1\n"
                         "[[column]]\nname='y'\nkind='label'\npositive=[1]\nnegative=[0]\n");
  options.limits.field_bytes = 8;
  const auto rows = [&](const std::string& row) {
    options.path = write("a.csv", "a,0.5,1\n" + row + "\nb,0.5,0\n");
    return load_table(options);
  };
  EXPECT_TRUE(rows("abcdefgh,0.500000,1"));
  for (const char* row : {"abcdefghi,0.5,1", "a,0.5000000,1", "\"abcdefghi\",0.5,1"}) {
    options.misfits = Misfits::kRefuse;
    EXPECT_FAILS(rows(row), ErrorKind::kBadData, "‘max_field’");
    // One that names somebody is that person's; a name that is too long is nobody's.
    options.misfits = Misfits::kNull;
    const auto data = rows(row);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(data->table.units(), std::string(row).starts_with("a,") ? 2 : 3) << row;
  }
}

// The other end may never come.
TEST_F(Limits, APipeIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_FAILS(load_table(two_features(path("pipe"))), ErrorKind::kIo, "not a regular file");
  EXPECT_FAILS(load_table(two_features("/dev/zero")), ErrorKind::kIo, "not a regular file");
}

TEST_F(Limits, TheLargestIndexNeedsNoMemory) {
  LoadOptions options = two_features(write("a.svm", "+1 2147483645:1\n-1 1:1\n"));
  EXPECT_FAILS(load_table(options), ErrorKind::kBadData, "above the declared dimension");
  options.dim = 2'147'483'645;
  const auto data = load_table(options);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->table.rows(), 2);
  options.dim = 2'147'483'646;
  EXPECT_FAILS(load_table(options), ErrorKind::kUsage, "dim must be between");
}

}  // namespace
}  // namespace sotto
