// What is public of a table does not depend on any one row: neighbouring files through every
// format.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "sotto/data/io/csv.hpp"
#include "sotto/data/io/row_reader.hpp"
#include "sotto/data/load.hpp"
#include "sotto/data/unit_names.hpp"
#include "tests/data/support.hpp"
#include "tests/support/array_files.hpp"

namespace sotto {
namespace {

using test::row_of;
using testing::npy_header;

constexpr int kRows = 12;
constexpr int kChanged = 5;  ///< the row that differs between neighbours

/// All that anything outside the engines may see of a table.
struct PublicFacts {
  std::int64_t units, dim;
  bool sparse, persons;
  double row_norm_bound;
  std::vector<std::string> classes, features, notes;
  bool operator==(const PublicFacts&) const = default;
};

PublicFacts facts_of(const Dataset& data) {
  return {data.table.units(),
          data.table.dim(),
          data.table.sparse(),
          data.table.has_units(),
          data.row_norm_bound,
          data.class_names,
          data.feature_names,
          data.notes};
}

/// One format: how a file is written whose row kChanged is `text`, and rows to put there.
struct Case {
  std::string name;
  LoadOptions options;
  std::function<void(const std::string& row)> write;
  std::string usual;
  std::vector<std::string> fitting;     ///< extreme rows that fit
  std::vector<std::string> misfitting;  ///< rows that do not
};

class Neighbours : public test::DataTest {
 protected:
  template <class T>
  static std::string bytes(std::initializer_list<T> values) {
    std::string text(values.size() * sizeof(T), '\0');
    std::memcpy(text.data(), std::data(values), text.size());
    return text;
  }
  static std::string lines(const std::string& row, const std::function<std::string(int)>& usual) {
    std::string text;
    for (int i = 0; i < kRows; ++i) text += (i == kChanged ? row : usual(i)) + "\n";
    return text;
  }

  Case libsvm(std::int64_t dim, Layout layout) {
    Case each;
    each.name = "libsvm " + std::to_string(dim);
    each.options.path = path("a.svm");
    each.options.dim = dim;
    each.options.layout = layout;
    each.options.row_norm = 2;
    each.write = [this](const std::string& row) {
      write("a.svm", lines(row, [](int i) {
              return std::string(i % 2 == 0 ? "+1" : "-1") + " 1:0.5 3:" + std::to_string(i);
            }));
    };
    each.usual = "-1 2:1";
    std::string full = "1";
    for (std::int64_t j = 1; j <= dim; ++j) full += ' ' + std::to_string(j) + ":3e38";
    each.fitting = {"-1", full, "1 1:0 2:0", "1 1:-3e38", "-1 # nothing else"};
    each.misfitting = {"2 1:1",
                       "x",
                       "1 1:nan",
                       "1 1:1e39",
                       "1 1:1 1:1",
                       "1 9999:1",
                       "1 1:1 2:1 3:",
                       "inf 1:1",
                       std::string("\x01", 1)};
    return each;
  }

  Case csv(bool persons, Layout layout) {
    Case each;
    each.name = std::string("csv") + (persons ? " persons" : "");
    each.options.path = path("a.csv");
    each.options.layout = layout;
    std::string schema = "[file]\nmissing = ['?']\n";
    if (persons) schema += "[[column]]\nname='who'\nkind='unit'\n";
    schema +=
        "[[column]]\nname='x'\nkind='numeric'\nmin=0\nmax=1\nfiller=0.6\nmissing_indicator=true\n"
        "[[column]]\nname='z'\nkind='numeric'\nmin=0\nmax=1\n"
        "[[column]]\nname='c'\nkind='categorical'\nvalues=['a','b','c','d']\n"
        "[[column]]\nnames=['h1','h2']\nkind='onehot'\n"
        "[[column]]\nname='y'\nkind='label'\npositive=[1]\nnegative=[0]\n";
    each.options.schema = write(persons ? "persons.toml" : "rows.toml", schema);
    const std::string id = persons ? "p5," : "";
    each.write = [this, persons](const std::string& row) {
      write("a.csv", lines(row, [&](int i) {
              return (persons ? "p" + std::to_string(i % 5) + "," : std::string()) + "0." +
                     std::to_string(i % 10) + ",0.5,a,1,0," + std::to_string(i % 2);
            }));
    };
    each.usual = id + "0.5,0.5,b,0,1,1";
    each.fitting = {id + "?,1,unheard of,0,1,1", id + "-3e38,3e38,d,0,0,0", id + "0,0,,0,0,0"};
    each.misfitting = {id + "0.5,?,a,0,0,1",
                       id + "0.5,0.5,a,1,1,1",
                       id + "0.5,0.5,a,1,0,2",
                       id + "0.5,text,a,1,0,1",
                       id + "1",
                       id + "0.5,0.5,a,1,0,1,7",
                       id + "\"0.5,0.5,a,1,0,1"};
    if (persons) each.misfitting.emplace_back("?,0.5,0.5,a,1,0,1");
    return each;
  }

  /// Dates, logarithms, bins, prefixes and ranges.
  Case csv_of_further_keys(Layout layout) {
    Case each;
    each.name = "csv of further keys";
    each.options.path = path("further.csv");
    each.options.layout = layout;
    each.options.schema =
        write("further.toml",
              "[file]\nmissing = ['?']\n"
              "[[column]]\nname='d'\nkind='numeric'\ndate='%Y-%m-%d'\nmin='2000-01-01'\n"
              "max='2020-01-01'\n"
              "[[column]]\nname='n'\nkind='numeric'\nscale='log1p'\nmin=0\nmax=100\n"
              "missing_indicator=true\nfiller=3\n"
              "[[column]]\nname='b'\nkind='numeric'\nbins=[30, 50]\nfiller=40\n"
              "missing_indicator=true\n"
              "[[column]]\nname='c'\nkind='categorical'\nprefix=3\ncase='ignore'\n"
              "values=['v10']\nranges=[['heart', 390, 459], ['sugar', 250, 250]]\nother=true\n"
              "[[column]]\nname='y'\nkind='label'\npositive='yes'\nnegative='no'\ncase='ignore'\n");
    each.write = [this](const std::string& row) {
      write("further.csv", lines(row, [](int i) {
              return "2010-01-0" + std::to_string(i % 9 + 1) + "," + std::to_string(i) +
                     ",45,401.9," + (i % 2 == 0 ? "YES" : "no");
            }));
    };
    each.usual = "2005-05-05,7,31,250.83,yes";
    each.fitting = {"0001-01-01,3e38,-3e38,V10,No",
                    "9999-12-31,?,?,?,YES",
                    "2004-2-29,-5,30,459.5,yes",
                    "2004-02-29,0,49.9,,no"};
    each.misfitting = {"2005-02-29,7,31,250,yes",
                       "?,7,31,250,yes",
                       "5.5.2005,7,31,250,yes",
                       "2005-05-05,7,31,250,maybe"};
    return each;
  }

  Case npy(Layout layout) {
    Case each;
    each.name = "npy";
    each.options.path = path("X.npy") + "," + path("y.npy");
    each.options.labels = LabelKind::kMulticlass;
    each.options.classes = {"0", "1", "2"};
    each.options.layout = layout;
    each.options.row_norm = 1;
    each.write = [this](const std::string& row) {  // three floats and the label
      std::string x = npy_header("<f4", "(12, 3)");
      std::string y = npy_header("<f4", "(12,)");
      for (int i = 0; i < kRows; ++i) {
        x += i == kChanged ? row.substr(0, 12) : bytes<float>({1, 0, static_cast<float>(i)});
        y += i == kChanged ? row.substr(12) : bytes<float>({static_cast<float>(i % 2)});
      }
      write("X.npy", x);
      write("y.npy", y);
    };
    each.usual = bytes<float>({1, 2, 3, 1});
    each.fitting = {bytes<float>({3e38F, -3e38F, 3e38F, 2}), bytes<float>({0, 0, 0, 2})};
    each.misfitting = {bytes<float>({1, 2, 3, 3}),
                       bytes<float>({1, NAN, 3, 1}),
                       bytes<float>({1, 2, INFINITY, 1}),
                       bytes<float>({1, 2, 3, NAN}),
                       bytes<float>({1, 2, 3, 0.5F})};
    return each;
  }

  Case idx() {
    Case each;
    each.name = "idx";
    each.options.path = path("x-ubyte") + "," + path("y-ubyte");
    each.options.labels = LabelKind::kMulticlass;
    each.write = [this](const std::string& row) {
      std::string x("\0\0\x08\x03\0\0\0\x0c\0\0\0\1\0\0\0\2", 16);
      std::string y("\0\0\x08\x01\0\0\0\x0c", 8);
      for (int i = 0; i < kRows; ++i) {
        x += i == kChanged ? row.substr(0, 2) : std::string("\x10\x20", 2);
        y += i == kChanged ? row[2] : static_cast<char>(i % 3);
      }
      write("x-ubyte", x);
      write("y-ubyte", y);
    };
    each.usual = std::string("\x01\x02\x01", 3);
    each.fitting = {std::string("\xff\xff\x09", 3), std::string("\0\0\0", 3)};
    each.misfitting = {std::string("\x01\x02\x0a", 3), std::string("\x01\x02\xff", 3)};
    return each;
  }

  Case cifar() {
    Case each;
    each.name = "cifar";
    each.options.path = path("a.bin");
    each.options.labels = LabelKind::kMulticlass;
    each.write = [this](const std::string& row) {
      std::string text;
      for (int i = 0; i < kRows; ++i)
        text += i == kChanged ? row : static_cast<char>(i % 3) + std::string(3072, '7');
      write("a.bin", text);
    };
    each.usual = '\x02' + std::string(3072, '9');
    each.fitting = {'\x09' + std::string(3072, '\xff'), std::string(3073, '\0')};
    each.misfitting = {'\x0a' + std::string(3072, '9'), '\xff' + std::string(3072, '9')};
    return each;
  }

  std::vector<Case> cases() {
    return {libsvm(4, Layout::kAuto),
            libsvm(100, Layout::kAuto),
            libsvm(8, Layout::kSparse),
            csv(false, Layout::kDense),
            csv(false, Layout::kSparse),
            csv(true, Layout::kDense),
            csv(true, Layout::kSparse),
            csv_of_further_keys(Layout::kDense),
            csv_of_further_keys(Layout::kSparse),
            npy(Layout::kAuto),
            npy(Layout::kSparse),
            idx(),
            cifar()};
  }
};

/// Rows of unit u as plain numbers with labels.
std::vector<float> unit_content(const Table& table, std::int64_t u) {
  std::vector<float> all;
  for (std::int64_t i = table.unit_begin(u); i < table.unit_begin(u + 1); ++i) {
    for (const float value : row_of(table, i)) all.push_back(value);
    all.push_back(table.labels()[static_cast<std::size_t>(i)]);
  }
  return all;
}

TEST_F(Neighbours, WithoutRefusalsPublicFactsAreThoseOfTheDeclaration) {
  for (Case& each : cases()) {
    each.options.misfits = Misfits::kNull;
    each.write(each.usual);
    const auto usual = load_table(each.options);
    ASSERT_TRUE(usual) << each.name << usual.error().message;
    EXPECT_TRUE(usual->table.null_units().empty());
    for (const bool fits : {true, false}) {
      for (const std::string& row : fits ? each.fitting : each.misfitting) {
        each.write(row);
        const auto twin = load_table(each.options);
        ASSERT_TRUE(twin) << each.name << twin.error().message;
        EXPECT_EQ(facts_of(*usual), facts_of(*twin)) << each.name << ": " << row;
        const Table& table = twin->table;
        int nulls = 0;
        for (std::int64_t u = 0; u < table.units(); ++u) {
          if (u == kChanged) continue;
          EXPECT_EQ(unit_content(usual->table, u), unit_content(table, u)) << each.name << u;
          EXPECT_FALSE(table.is_null_unit(u));
        }
        // A number with a filler takes the filler: that is no null.
        for (const std::uint8_t null : table.null_units()) nulls += null;
        EXPECT_EQ(nulls, fits ? 0 : 1) << each.name << ": " << row;
        EXPECT_EQ(table.is_null_unit(kChanged), !fits) << each.name << ": " << row;
        if (!fits) {
          EXPECT_EQ(table.unit_begin(kChanged + 1) - table.unit_begin(kChanged), 1);
          EXPECT_EQ(table.norms()[static_cast<std::size_t>(table.unit_begin(kChanged))], 0);
          for (const float value : row_of(table, table.unit_begin(kChanged))) EXPECT_EQ(value, 0);
        }
        // What claims rest on: no check of a norm can fail for a row's sake.
        for (const double norm : table.norms())
          EXPECT_LE(norm, twin->row_norm_bound * (1 + 0x1p-27)) << each.name;
      }
    }
  }
}

TEST_F(Neighbours, ByDefaultWhatDoesNotFitIsRefusedWithItsPlaceAndNoValue) {
  for (Case& each : cases()) {
    for (const std::string& row : each.fitting) {
      each.write(row);
      const auto data = load_table(each.options);
      ASSERT_TRUE(data) << each.name << data.error().message;
      EXPECT_TRUE(data->table.null_units().empty()) << "a file that is not refused holds no null";
    }
    for (const std::string& row : each.misfitting) {
      each.write(row);
      EXPECT_FAILS(load_table(each.options), ErrorKind::kBadData, ":6:");
      EXPECT_FAILS(load_table(each.options), ErrorKind::kBadData, "1 row does not fit");
    }
  }
}

/// The comparison above must be able to fail: a reader that takes facts from rows is caught.
TEST_F(Neighbours, AReaderThatInfersIsCaught) {
  Case leaky = libsvm(4, Layout::kAuto);
  leaky.options.public_rows = true;
  leaky.options.dim = 0;
  leaky.options.labels = LabelKind::kMulticlass;
  leaky.write(leaky.usual);
  const auto usual = load_table(leaky.options);
  for (const char* row : {"2 1:1", "1 7:1"}) {
    leaky.write(row);
    const auto twin = load_table(leaky.options);
    ASSERT_TRUE(usual && twin);
    EXPECT_NE(facts_of(*usual), facts_of(*twin)) << row;
  }
}

TEST_F(Neighbours, TextWhereANumberShouldBeTakesTheDeclaredFiller) {
  Case each = csv(false, Layout::kDense);
  each.write("text,0.5,a,1,0,1");
  EXPECT_FAILS(
      load_table(each.options), ErrorKind::kBadData, "a.csv:6:1: the value of 'x' is not a finite");
  each.options.misfits = Misfits::kNull;
  const auto data = load_table(each.options);
  ASSERT_TRUE(data);
  EXPECT_TRUE(data->table.null_units().empty());
  EXPECT_EQ(row_of(data->table, kChanged)[0], 0.6F);
  EXPECT_EQ(row_of(data->table, kChanged)[1], 1.0F);
}

TEST_F(Neighbours, RowsThatDoNotFitLeaveTheirPerson) {
  for (const Layout layout : {Layout::kDense, Layout::kSparse}) {
    Case each = csv(true, layout);
    each.options.misfits = Misfits::kNull;
    write("a.csv",
          "ann,0.1,0.5,a,1,0,1\n"
          "bob,0.2,?,a,1,0,1\n"        // bob has nothing else: a null unit
          "ann,0.3,0.5,a,1,0,maybe\n"  // dropped
          "cy,0.4,0.5,a,1,0,0\n"
          "?,0.5,0.5,a,1,0,1\n"  // nobody: a null unit of its own
          "ann,0.6,0.5,a,1,0,0\n"
          "bob,0.7,?,a,1,0,1\n"
          "cy\n"         // too short, but it says whose it is: dropped
          "\"dee,1\n");  // a quote that does not end: nobody's, a null unit of its own
    const auto data = load_table(each.options);
    ASSERT_TRUE(data) << data.error().message;
    const Table& table = data->table;
    ASSERT_EQ(table.units(), 5);
    EXPECT_EQ(table.rows(), 6);
    const auto nulls = table.null_units();
    EXPECT_EQ(std::vector<int>(nulls.begin(), nulls.end()), (std::vector<int>{0, 1, 0, 1, 1}));
    EXPECT_EQ(table.unit_begin(1), 2);
    EXPECT_EQ(row_of(table, 0)[0], 0.1F);
    EXPECT_EQ(row_of(table, 1)[0], 0.6F);
    EXPECT_EQ(table.labels()[1], -1.0F);
    EXPECT_EQ(row_of(table, table.unit_begin(2))[0], 0.4F);
  }
}

TEST_F(Neighbours, AFileWithoutRowsIsOneNullUnit) {
  for (Case& each : cases()) {
    if (each.name != "libsvm 4" && each.name.find("csv") != 0) continue;
    for (const char* text : {"", "\n\n"}) {
      write(each.options.path.substr(each.options.path.rfind('/') + 1), text);
      each.options.misfits = Misfits::kRefuse;
      EXPECT_FAILS(load_table(each.options), ErrorKind::kBadData, "");
      each.options.misfits = Misfits::kNull;
      const auto data = load_table(each.options);
      ASSERT_TRUE(data) << data.error().message;
      EXPECT_EQ(data->table.units(), 1);
      EXPECT_TRUE(data->table.is_null_unit(0));
    }
  }
}

/// What a misfit is must not depend on the rows before it, however the file is cut.
TEST_F(Neighbours, LongLinesAreNotKeptWhereverTheyStand) {
  for (std::size_t before = 0; before < 40; ++before) {
    for (const std::size_t length : {5U, 31U, 33U, 80U, 500U}) {
      const std::string text = std::string(before, '#') + "\n" + std::string(length, '#') + "\ny\n";
      auto file = InputFile::open(write("long.txt", text));
      ASSERT_TRUE(file);
      LineBatches source(*std::move(file), 32, 8);
      std::string all;
      std::vector<std::string> lines;
      for (;;) {
        const auto more = source.advance();
        ASSERT_TRUE(more);
        if (!*more) break;
        for (const std::string_view chunk : source.chunks()) {
          all += chunk;
          for_each_line(
              chunk, 1, 32, [&](std::string_view line, std::int64_t) { lines.emplace_back(line); });
        }
      }
      // A buffer that happens to hold a line that is too long may keep it; no reader sees that,
      // whatever the line holds (here: what some format takes for a comment).
      const std::string too_long(LineBatches::kTooLong);
      EXPECT_EQ(lines,
                (std::vector<std::string>{before > 32 ? too_long : std::string(before, '#'),
                                          length > 32 ? too_long : std::string(length, '#'),
                                          "y"}));
      if (length == 500) {
        EXPECT_LT(all.size(), 100U) << "memory does not grow with it";
      }
    }
  }
}

}  // namespace
}  // namespace sotto
