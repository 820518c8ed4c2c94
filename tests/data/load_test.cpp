#include "sotto/data/load.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "sotto/data/io/csv.hpp"
#include "sotto/data/io/libsvm.hpp"
#include "sotto/data/io/npy.hpp"
#include "tests/data/support.hpp"

namespace sotto {
namespace {

using test::content;
using test::gzip;

constexpr const char* kLoadSchema =
    "[file]\nmissing=['?']\n[[column]]\nname='who'\nkind='unit'\n"
    "[[column]]\nname='x'\nkind='numeric'\nmin=0\nmax=8\nmissing_indicator=true\n"
    "[[column]]\nname='c'\nkind='categorical'\nvalues=['a','b']\nother=true\n"
    "[[column]]\nname='y'\nkind='label'\npositive=[1]\nnegative=[0]\n";

class Load : public test::DataTest {
 protected:
  static LoadOptions with_path(const std::string& path, const std::string& schema = "") {
    LoadOptions options;
    options.path = path;
    options.schema = schema;
    options.public_rows = true;
    return options;
  }
};

TEST_F(Load, FormatByNameOrOption) {
  const auto found = [&](const std::string& path, const std::string& schema = "") {
    return std::string(resolve_format(with_path(path, schema))->name);
  };
  EXPECT_EQ(found("a.svm"), "libsvm");
  EXPECT_EQ(found("a9a.gz"), "libsvm");
  EXPECT_EQ(found("a.csv.gz"), "csv");
  EXPECT_EQ(found("a.data", "s.toml"), "csv");
  EXPECT_EQ(found("X.npy,y.npy"), "npy");
  EXPECT_EQ(found("a,b.npy"), "libsvm") << "a list is known by its first name";
  EXPECT_EQ(found("train-images-idx3-ubyte.gz,l"), "idx");
  EXPECT_EQ(found("a.bin"), "cifar10");
  EXPECT_EQ(found(path(".")), "cifar10");
  LoadOptions options = with_path("a.csv");
  options.format = *parse_format("libsvm");
  EXPECT_EQ(resolve_format(options)->name, "libsvm");
  for (const std::string name : {"libsvm", "csv", "npy", "idx", "cifar10", "cifar100"})
    EXPECT_EQ((*parse_format(name))->name, name);
  EXPECT_EQ(*parse_format("auto"), nullptr);
  EXPECT_FAILS(parse_format("parquet"), ErrorKind::kUsage, "unknown format 'parquet'");
}

TEST_F(Load, WrongCombinations) {
  EXPECT_FAILS(load_table(with_path("a.csv")), ErrorKind::kUsage, "a CSV file needs a schema");
  EXPECT_FAILS(load_table(with_path("X.npy")), ErrorKind::kUsage, "two files");
  EXPECT_FAILS(load_table(with_path("X.npy,")), ErrorKind::kUsage, "two files");
  LoadOptions options = with_path("a.svm", "s.toml");
  options.format = *parse_format("libsvm");
  EXPECT_FAILS(load_table(options), ErrorKind::kUsage, "a schema describes a CSV file");
  EXPECT_FAILS(
      write_table(path("a.csv"), Table()), ErrorKind::kUsage, "LIBSVM text or as an .npy pair");
}

TEST_F(Load, ConvertsBetweenFormats) {
  const auto first = load_table(with_path(write("a.svm", "1 1:0.5 3:2\n-1 2:-1\n1\n")));
  ASSERT_TRUE(first);
  const std::string pair = path("X.npy") + "," + path("y.npy");
  ASSERT_TRUE(write_table(pair, first->table));
  const auto second = load_table(with_path(pair));
  ASSERT_TRUE(second) << second.error().message;
  ASSERT_TRUE(write_table(path("b.svm.gz"), second->table));
  const auto third = load_table(with_path(path("b.svm.gz")));
  ASSERT_TRUE(third);
  EXPECT_EQ(content(first->table), content(third->table));
}

TEST_F(Load, InfoShowsPublicFactsUnlessAsked) {
  const std::string text = "ann,1,a,1\nbob,2,b,0\nann,8,z,0\ncy,?,b,0\n";
  const LoadOptions options = with_path(write("a.csv", text), write("s.toml", kLoadSchema));
  const auto data = load_table(options);
  ASSERT_TRUE(data) << data.error().message;
  const auto info = describe(options, *data, std::nullopt, false);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->format, "csv");
  EXPECT_EQ(info->units, 3);
  EXPECT_TRUE(info->persons);
  EXPECT_FALSE(info->units_declared);
  EXPECT_EQ(info->dim, 5);
  EXPECT_DOUBLE_EQ(info->row_norm_bound, std::sqrt(2));
  EXPECT_EQ(info->class_names, (std::vector<std::string>{"0", "1"}));
  EXPECT_FALSE(info->diagnostics) << "nothing computed from rows without an explicit request";

  const auto declared = describe(options, *data, 1000, true);
  ASSERT_TRUE(declared);
  EXPECT_EQ(declared->units, 1000);
  EXPECT_TRUE(declared->units_declared);
  ASSERT_TRUE(declared->diagnostics);
  EXPECT_EQ(declared->diagnostics->file_bytes, std::ssize(text));
  EXPECT_EQ(declared->diagnostics->rows, 4);
  EXPECT_EQ(declared->diagnostics->largest_unit, 2);
  EXPECT_EQ(declared->diagnostics->class_rows, (std::vector<std::int64_t>{3, 1}));
  EXPECT_DOUBLE_EQ(declared->diagnostics->label_mean, -0.5);
  EXPECT_NEAR(declared->diagnostics->norm_max, std::sqrt(2), 1e-12);
  EXPECT_DOUBLE_EQ(declared->diagnostics->density, 8.0 / 20);
}

/// Random changes to sound files: whatever comes of it is an error with a text or a sound table.
TEST_F(Load, MutatedFilesNeverCrashOrGiveNonFiniteTables) {
  std::mt19937 generator(2024);
  const std::string svm = "+1 1:0.5 3:2e1 # c\n-1 2:-1 4:7\n1 1:1\r\n\n-1 4:.5\n";
  const std::string csv = "ann,1,a,1\nbob,2,b,0\n\"ann\",8,\"z\",0\r\ncy,?,b,0\n";
  const Table table = TableBuilder::dense(2, 2, std::vector<float>{1, 2, 3, 4}, {1, -1}, {});
  ASSERT_TRUE(write_npy(path("X.npy"), path("y.npy"), table));
  const std::string x = test::read_all(path("X.npy"));
  const std::string y = path("y.npy");
  const std::string idx("\0\0\x08\x03\0\0\0\x02\0\0\0\1\0\0\0\2abcd", 20);
  const std::string idx_labels = write("l-ubyte", std::string("\0\0\x08\x01\0\0\0\2\0\1", 10));
  const std::string schema = write("s.toml", kLoadSchema);
  struct Case {
    std::string seed, name, options_path, schema;
  };
  const std::vector<Case> cases = {{svm, "m.svm", path("m.svm"), ""},
                                   {gzip(svm), "m.gz", path("m.gz"), ""},
                                   {csv, "m.csv", path("m.csv"), schema},
                                   {gzip(csv), "m.csv.gz", path("m.csv.gz"), schema},
                                   {kLoadSchema, "m.toml", write("good.csv", csv), path("m.toml")},
                                   {x, "m.npy", path("m.npy") + "," + y, ""},
                                   {idx, "m-ubyte", path("m-ubyte") + "," + idx_labels, ""}};
  const std::string alphabet = std::string("0123456789:.-+eE#, \t\r\n\"?naif|=[]'\xff") + '\0';
  int tables = 0;
  int errors = 0;
  for (int round = 0; round < 1500; ++round) {
    const Case& each = cases[static_cast<std::size_t>(round) % cases.size()];
    std::string bytes = each.seed;
    for (std::size_t change = 0, changes = 1 + generator() % 3; change < changes && !bytes.empty();
         ++change) {
      const std::size_t place = generator() % bytes.size();
      const char other = generator() % 2 == 0 ? alphabet[generator() % alphabet.size()]
                                              : static_cast<char>(generator());
      switch (generator() % 5) {
        case 0:
          bytes[place] = other;
          break;
        case 1:
          bytes.erase(place, 1 + generator() % 5);
          break;
        case 2:
          bytes.insert(place, 1, other);
          break;
        case 3:
          bytes.resize(place);
          break;
        default:
          bytes += bytes.substr(place, generator() % 20);
          break;
      }
    }
    write(each.name, bytes);
    LoadOptions options = with_path(each.options_path, each.schema);
    const bool svm_file = each.schema.empty() && each.options_path.find(',') == std::string::npos;
    if (svm_file && generator() % 2 == 0) options.dim = 4;
    if (generator() % 4 == 0) options.misfits = Misfits::kNull;
    if (generator() % 2 == 0) options.bias = true;
    if (generator() % 2 == 0) options.row_norm = 1;
    options.labels = each.schema.empty() ? LabelKind::kReal : LabelKind::kBinary;
    options.layout = static_cast<Layout>(generator() % 3);
    // A changed index may be huge, and a dense table of that width is what one then asks for.
    if (svm_file && options.layout == Layout::kDense) options.dim = 4;
    const auto data = load_table(options);
    if (!data) {
      ++errors;
      EXPECT_FALSE(data.error().message.empty());
      EXPECT_TRUE(data.error().kind == ErrorKind::kBadData ||
                  data.error().kind == ErrorKind::kUsage)
          << data.error().message;
      continue;
    }
    ++tables;
    for (const double number : content(data->table)) ASSERT_TRUE(std::isfinite(number));
    if (options.row_norm > 0) {
      for (const double norm : data->table.norms()) ASSERT_LE(norm, 1 + 1e-12);
    }
  }
  EXPECT_GT(tables, 100) << "the mutations should leave some files sound";
  EXPECT_GT(errors, 100);
}

}  // namespace
}  // namespace sotto
