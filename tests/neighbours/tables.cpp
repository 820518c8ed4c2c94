#include "tests/neighbours/tables.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <bit>
#include <cstring>
#include <sstream>

#include "tests/support/array_files.hpp"

namespace sotto::testing {
namespace {

constexpr int kPersonRows = 150;

/// A unit is null if its row does not fit the declaration; here, by its label.
Unit written(Unit unit) { return unit == Unit::kNull ? Unit::kNewLabel : unit; }

/// Numbers that look drawn, the same everywhere: in [-1, 1].
double number(int row, int column) {
  const unsigned mixed =
      (static_cast<unsigned>(row) * 7919U + static_cast<unsigned>(column) * 104729U + 17U) *
      2654435761U;
  return static_cast<double>(mixed >> 8) / 0x1p23 - 1;
}

/// The values of the last unit's row in `dim` columns; empty: it is not a row of numbers.
std::optional<std::vector<double>> values_of(Unit unit, int dim, int entries) {
  std::vector<double> row(static_cast<std::size_t>(dim));
  const auto fill = [&](int count, double scale, int salt) {
    for (int j = 0; j < count; ++j)
      row[static_cast<std::size_t>(j * dim / count)] = scale * (0.1 + number(salt, j));
  };
  switch (unit) {
    case Unit::kZero:
      return row;
    case Unit::kOrdinary:
    case Unit::kNewLabel:
    case Unit::kUnreadable:
    case Unit::kTooWide:
      fill(entries, 0.4, 101);
      return row;
    case Unit::kOther:
      fill(entries, -0.4, 102);
      return row;
    case Unit::kLong:
      fill(entries, 1000, 103);
      return row;
    case Unit::kAllColumns:
      fill(dim, 0.4, 104);
      return row;
    case Unit::kPlusHuge:
    case Unit::kMinusHuge:
      for (double& value : row) value = unit == Unit::kPlusHuge ? 3e38 : -3e38;
      return row;
    default:
      return {};
  }
}

int label_of(Unit unit) { return unit == Unit::kOther ? 1 : 0; }

std::string libsvm_row(const std::vector<double>& row, const std::string& label) {
  std::string line = label;
  for (std::size_t j = 0; j < row.size(); ++j)
    if (row[j] != 0) line += fmt::format(" {}:{}", j + 1, row[j]);
  return line + "\n";
}

/// A public test set of two rows is there too.
std::optional<Files> libsvm_files(Unit unit, int dim, int entries, bool real_labels = false) {
  unit = written(unit);
  const std::string test = fmt::format("+1 1:0.5 {}:0.25\n-1 2:0.5\n", dim);
  std::string text;
  for (int i = 0; i + 1 < kTableUnits; ++i) {
    std::vector<double> row(static_cast<std::size_t>(dim));
    for (int j = 0; j < entries; ++j)
      row[static_cast<std::size_t>((j * dim / entries + i) % dim)] = 0.5 * (1.1 + number(i, j));
    text += libsvm_row(row,
                       real_labels  ? fmt::format("{:.3f}", number(i, 99))
                       : i % 2 == 0 ? "+1"
                                    : "-1");
  }
  if (unit == Unit::kAbsent) return Files{{"d.svm", text}, {"t.svm", test}};
  const auto row = values_of(unit, dim, entries);
  if (!row) return {};
  std::string label = label_of(unit) == 0 ? "-1" : "+1";
  if (unit == Unit::kNewLabel) label = real_labels ? "nan" : "7";
  if (real_labels && unit == Unit::kPlusHuge) label = "3e38";
  if (real_labels && unit == Unit::kMinusHuge) label = "-3e38";
  std::string line = libsvm_row(*row, label);
  if (unit == Unit::kUnreadable) line = "-1 1:abc 2:0.5\n";
  if (unit == Unit::kTooWide) line = fmt::format("-1 1:0.5 {}:0.5\n", dim + 9);
  return Files{{"d.svm", text + line}, {"t.svm", test}};
}

template <class T>
void append_bytes(std::string& bytes, T value) {
  std::array<char, sizeof value> raw;
  std::memcpy(raw.data(), &value, sizeof value);
  bytes.append(raw.data(), raw.size());
}

std::optional<Files> npy_files(Unit unit) {
  unit = written(unit);
  constexpr int kDim = 6;
  std::string x, y;
  int rows = 0;
  for (; rows + 1 < kTableUnits; ++rows) {
    for (int j = 0; j < kDim; ++j) append_bytes(x, static_cast<float>(0.4 * number(rows, j)));
    append_bytes(y, std::int64_t{rows % 2});
  }
  if (unit != Unit::kAbsent) {
    if (unit == Unit::kTooWide) return {};  // the header says how wide a row is
    auto row = values_of(unit, kDim, 3);
    if (unit == Unit::kMissing) row = std::vector<double>(kDim, std::nan(""));
    if (unit == Unit::kUnreadable) row = std::vector<double>(kDim, HUGE_VAL);
    if (!row) return {};
    for (const double value : *row) append_bytes(x, static_cast<float>(value));
    append_bytes(y, std::int64_t{unit == Unit::kNewLabel ? 7 : label_of(unit)});
    ++rows;
  }
  return Files{{"x.npy", npy_header("<f4", fmt::format("({}, {})", rows, kDim)) + x},
               {"y.npy", npy_header("<i8", fmt::format("({},)", rows)) + y}};
}

constexpr const char* kDenseSchema = R"([file]
missing = ["", "?"]
[[column]]
names = ["a", "b", "c"]
kind = "numeric"
min = -1
max = 1
filler = -1
[[column]]
name = "d"
kind = "categorical"
values = ["x", "y"]
[[column]]
name = "l"
kind = "label"
positive = ["1"]
negative = ["0"]
)";

/// Three columns of a dozen values each: few of the features are 1.
constexpr const char* kSparseSchema = R"([file]
missing = ["", "?"]
[[column]]
names = ["a", "b", "c"]
kind = "categorical"
values = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"]
[[column]]
name = "d"
kind = "numeric"
min = 0
max = 1
missing_indicator = true
[[column]]
name = "l"
kind = "label"
positive = ["1"]
negative = ["0"]
)";

/// Fields of the last unit's rows, label left out; empty where it makes no sense.
std::optional<std::string> dense_fields(Unit unit) {
  switch (unit) {
    case Unit::kZero:
      return "-1,-1,-1,none";
    case Unit::kOrdinary:
    case Unit::kNewLabel:
    case Unit::kManyRows:
      return "0.25,-0.5,0.75,x";
    case Unit::kOther:
    case Unit::kAllColumns:
      return "0.9,0.8,0.7,y";
    case Unit::kLong:
      return "1000,1000,1000,y";
    case Unit::kMissing:
      return "?,?,?,?";
    case Unit::kUnknownCategory:
      return "0.25,-0.5,0.75,unheard-of";
    case Unit::kPlusHuge:
      return "3e38,3e38,3e38,x";
    case Unit::kMinusHuge:
      return "-3e38,-3e38,-3e38,x";
    case Unit::kUnreadable:
      return "0.25,abc,0.75,x";
    default:
      return {};
  }
}

std::optional<std::string> sparse_fields(Unit unit) {
  switch (unit) {
    case Unit::kZero:
      return "none,none,none,0";
    case Unit::kOrdinary:
    case Unit::kNewLabel:
      return "3,4,none,0";
    case Unit::kOther:
      return "5,6,7,0.5";
    case Unit::kAllColumns:
      return "1,1,1,1";
    case Unit::kMissing:
      return "?,?,?,?";
    case Unit::kUnknownCategory:
      return "unheard-of,4,5,0.3";
    case Unit::kPlusHuge:
      return "3,4,5,3e38";
    case Unit::kMinusHuge:
      return "3,4,5,-3e38";
    case Unit::kUnreadable:
      return "3,4,5,abc";
    default:
      return {};
  }
}

std::string csv_label(Unit unit) {
  return unit == Unit::kNewLabel ? "maybe" : label_of(unit) == 0 ? "0" : "1";
}

std::optional<Files> csv_files(Unit unit, bool sparse) {
  unit = written(unit);
  std::string text;
  for (int i = 0; i + 1 < kTableUnits; ++i)
    text +=
        sparse ? fmt::format("{},{},{},{},{}\n", i % 12, i * 5 % 12, i * 7 % 12, i % 3 * 0.5, i % 2)
               : fmt::format("{:.3f},{:.3f},{:.3f},{},{}\n",
                             number(i, 0),
                             number(i, 1),
                             number(i, 2),
                             i % 3 == 0 ? "x" : "y",
                             i % 2);
  if (unit != Unit::kAbsent) {
    if (unit == Unit::kManyRows) return {};  // without persons every row is a unit
    const auto fields = sparse ? sparse_fields(unit) : dense_fields(unit);
    if (unit == Unit::kTooWide)
      text += sparse ? "3,4,5,0.5,0,0\n" : "0.25,-0.5,0.75,x,0,0\n";
    else if (fields)
      text += *fields + "," + csv_label(unit) + "\n";
    else
      return {};
  }
  return Files{{"s.toml", sparse ? kSparseSchema : kDenseSchema}, {"d.csv", text}};
}

/// Persons with one to three rows, those of the last one spread over the file.
std::optional<Files> person_files(Unit unit) {
  unit = written(unit);
  std::vector<std::string> lines;
  for (int i = 0; i + 1 < kTableUnits; ++i)
    for (int k = 0; k < 1 + i % 3; ++k)
      lines.push_back(fmt::format("{:.3f},{:.3f},{:.3f},{},{},p{}",
                                  number(i, 3 * k),
                                  number(i, 3 * k + 1),
                                  number(i, 3 * k + 2),
                                  i % 3 == 0 ? "x" : "y",
                                  i % 2,
                                  i));
  if (unit != Unit::kAbsent) {
    const auto fields = dense_fields(unit);
    if (!fields && unit != Unit::kTooWide) return {};
    const int rows = unit == Unit::kManyRows ? kPersonRows : 2;
    for (int k = 0; k < rows; ++k)
      // Its first row stays last among the first rows: units are numbered by those.
      lines.push_back(unit == Unit::kTooWide
                          ? "0.25,-0.5,0.75,x,0,somebody,0"
                          : fmt::format("{},{},{}", *fields, csv_label(unit), "somebody"));
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return Files{
      {"s.toml", std::string(kDenseSchema) + "[[column]]\nname = \"who\"\nkind = \"unit\"\n"},
      {"net.toml", "input = [5, 1, 1]\nlayers = [\"linear 3\", \"tanh\", \"linear 2\"]\n"},
      {"d.csv", text}};
}

/// The bytes of a SQLite database with one table, `t`, of this CSV's rows. A question mark is NULL;
/// numbers are numbers, in columns that are declared to have some.
std::string sqlite_file(const std::string& columns, const std::string& csv) {
  sqlite3* database = nullptr;
  sqlite3_open(":memory:", &database);
  std::string sql = "CREATE TABLE t (" + columns + ");";
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::string values;
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');)
      values += (values.empty() ? "" : ", ") + (field == "?" ? "NULL" : "'" + field + "'");
    sql += "INSERT INTO t VALUES (" + values + ");";
  }
  sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(database, "main", &size, 0);
  std::string file(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(database);
  return file;
}

/// The same persons in a database, whose rows all have the same columns.
std::optional<Files> database_files(Unit unit) {
  if (unit == Unit::kTooWide) return {};
  auto files = person_files(unit);
  if (!files) return {};
  (*files)["d.db"] =
      sqlite_file("a REAL, b REAL, c REAL, d TEXT, l INTEGER, who TEXT", files->at("d.csv"));
  files->erase("d.csv");
  return files;
}

/// Pixels of the last unit's picture; empty where it makes no sense.
std::optional<std::string> pixels_of(Unit unit, std::size_t size) {
  switch (unit) {
    case Unit::kOrdinary:
    case Unit::kNewLabel: {
      std::string pixels(size, '\0');
      pixels[0] = '\x40';
      return pixels;
    }
    case Unit::kZero:
      return std::string(size, '\0');
    case Unit::kOther:
    case Unit::kAllColumns:
      return std::string(size, '\xff');
    default:
      return {};
  }
}

std::string picture(int row, std::size_t size) {
  std::string pixels;
  for (std::size_t j = 0; j < size; ++j)
    pixels += static_cast<char>(127 + static_cast<int>(120 * number(row, static_cast<int>(j))));
  return pixels;
}

int picture_label(Unit unit) { return unit == Unit::kNewLabel ? 200 : label_of(unit); }

constexpr const char* kIdxNetwork =
    "input = [1, 4, 4]\nlayers = [\"conv 2 3 stride 2\", \"tanh\", \"flatten\", \"linear 10\"]\n";

std::optional<Files> idx_files(Unit unit) {
  unit = written(unit);
  std::string pixels, labels;
  std::uint32_t rows = 0;
  for (; rows + 1 < kTableUnits; ++rows) {
    pixels += picture(static_cast<int>(rows), 16);
    labels += static_cast<char>(rows % 10);
  }
  if (unit != Unit::kAbsent) {
    const auto last = pixels_of(unit, 16);
    if (!last) return {};
    pixels += *last;
    labels += static_cast<char>(picture_label(unit));
    ++rows;
  }
  return Files{{"net.toml", kIdxNetwork},
               {"x-idx3-ubyte", idx_file({rows, 4, 4}, pixels)},
               {"y-idx1-ubyte", idx_file({rows}, labels)}};
}

std::optional<Files> cifar_files(Unit unit, int classes) {
  unit = written(unit);
  constexpr std::size_t kPixels = 3072;
  std::string bytes;
  const auto add = [&](int label, const std::string& pixels) {
    if (classes == 100) bytes += static_cast<char>(label / 5 % 20);
    bytes += static_cast<char>(label);
    bytes += pixels;
  };
  for (int i = 0; i + 1 < kTableUnits; ++i) add(i % classes, picture(i, kPixels));
  if (unit != Unit::kAbsent) {
    const auto last = pixels_of(unit, kPixels);
    if (!last) return {};
    add(picture_label(unit), *last);
  }
  return Files{{"net.toml",
                fmt::format("input = [3, 32, 32]\nlayers = [\"avgpool 8 stride 8\", \"flatten\", "
                            "\"linear {}\"]\n",
                            classes)},
               {"d.bin", bytes}};
}

}  // namespace

const char* to_string(Unit unit) {
  static constexpr std::array<const char*, kUnits> kNames = {"absent",
                                                             "null",
                                                             "ordinary",
                                                             "zero",
                                                             "other",
                                                             "long",
                                                             "all_columns",
                                                             "missing",
                                                             "unknown_category",
                                                             "plus_3e38",
                                                             "minus_3e38",
                                                             "many_rows",
                                                             "new_label",
                                                             "unreadable",
                                                             "too_wide"};
  return kNames[static_cast<std::size_t>(unit)];
}

bool fits_declaration(Unit unit) { return unit < Unit::kNewLabel; }

Unit partner(Relation relation) {
  switch (relation) {
    case Relation::kZeroOut:
      return Unit::kNull;
    case Relation::kReplaceOne:
      return Unit::kOrdinary;
    case Relation::kAddRemove:
      return Unit::kAbsent;
  }
  return Unit::kAbsent;
}

const std::vector<TableKind>& table_kinds() {
  static const std::vector<TableKind> kinds = {
      {"dense",
       "npy",
       "x.npy,y.npy",
       false,
       {"--row-norm 1 --dim 6 --classes 0,1"},
       {"--no-bias"},
       npy_files},
      {"sparse",
       "libsvm",
       "d.svm",
       false,
       {"--row-norm 1 --dim 60"},
       {"--test t.svm --no-bias"},
       [](Unit unit) { return libsvm_files(unit, 60, 4); }},
      // 23 rows of 4 entries in 16 columns, and a last one that decides: a quarter is 96 entries.
      {"density_limit",
       "libsvm",
       "d.svm",
       false,
       {"--row-norm 1 --dim 16"},
       {"--no-bias"},
       [](Unit unit) { return libsvm_files(unit, 16, 4); }},
      {"real_labels",
       "libsvm",
       "d.svm",
       false,
       {"--row-norm 1 --dim 16"},
       {"--loss huber --no-bias"},
       [](Unit unit) { return libsvm_files(unit, 16, 4, /*real_labels=*/true); }},
      // Half of the labels are below 0 and become 0, and the last one's may be 3e38.
      {"counts",
       "libsvm",
       "d.svm",
       false,
       {"--row-norm 1 --dim 16"},
       {"--loss poisson:2"},
       [](Unit unit) { return libsvm_files(unit, 16, 4, /*real_labels=*/true); }},
      {"csv_dense",
       "csv",
       "d.csv",
       false,
       {"--schema s.toml"},
       {"--bias"},
       [](Unit unit) { return csv_files(unit, false); }},
      {"csv_sparse",
       "csv",
       "d.csv",
       false,
       {"--schema s.toml"},
       {"--no-bias"},
       [](Unit unit) { return csv_files(unit, true); }},
      {"persons", "csv", "d.csv", false, {"--schema s.toml"}, {"--no-bias"}, person_files},
      {"persons_database",
       "csv",
       "sqlite:d.db#t",
       false,
       {"--schema s.toml"},
       {"--no-bias"},
       database_files},
      {"persons_few_rows",
       "csv",
       "d.csv",
       false,
       {"--schema s.toml"},
       {"--no-bias --most-rows 2"},
       person_files},
      {"one_row_each",
       "csv",
       "d.csv",
       false,
       {"--schema s.toml"},
       {"--no-bias --most-rows 1"},
       person_files},
      {"persons_network",
       "csv",
       "d.csv",
       true,
       {"--schema s.toml"},
       {"--model net.toml"},
       person_files},
      {"persons_network_few_rows",
       "csv",
       "d.csv",
       true,
       {"--schema s.toml"},
       {"--model net.toml --most-rows 2"},
       person_files},
      {"network", "idx", "x-idx3-ubyte,y-idx1-ubyte", true, {}, {"--model net.toml"}, idx_files},
      {"cifar10",
       "cifar10",
       "d.bin",
       true,
       {"--format cifar10"},
       {"--model net.toml"},
       [](Unit unit) { return cifar_files(unit, 10); }},
      {"cifar100",
       "cifar100",
       "d.bin",
       true,
       {"--format cifar100"},
       {"--model net.toml"},
       [](Unit unit) { return cifar_files(unit, 100); }},
  };
  return kinds;
}

}  // namespace sotto::testing
