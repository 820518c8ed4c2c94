#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

/// What a CSV file's columns mean, with the public bounds and lists that encoding needs; read from
/// TOML (docs/reference/schema.md). Everything in it is declared by a person and public: nothing is
/// ever taken from rows, because bounds or categories found in the rows would tell about them.
struct Schema {
  enum class Kind { kNumeric, kCategorical, kOneHot, kLabel, kIgnore, kUnit };
  enum class Label { kTwoClasses, kClasses, kNumeric };

  struct Column {
    std::string name;
    Kind kind = Kind::kIgnore;
    /// Numeric features and labels: declared bounds; values outside are clamped to them. With
    /// `edges` they may be infinite: where nothing is declared.
    double min = 0;
    double max = 0;
    std::optional<double> filler;    ///< numeric: stands for a missing value
    bool missing_indicator = false;  ///< a further feature, one where the value is missing
    bool other = false;              ///< categorical: a further feature for unlisted values
    /// Categorical: one list of spellings per value. Label: one per class, in the order of stored
    /// labels.
    std::vector<std::vector<std::string>> values;
    /// Numeric: what is brought to [0, 1] is the value between its bounds, or log(1 + value).
    enum class Scale { kLinear, kLog1p };
    Scale scale = Scale::kLinear;
    /// Numeric, `bins`: inner edges, rising. A feature per bin, [a, b), instead of one number.
    std::vector<double> edges = {};
    /// Numeric: fields are dates of this form (`%Y-%m-%d`), and the value is days since 1970-01-01.
    std::string date = {};
    /// Categorical and label: spellings are compared without regard to the case of A to Z.
    bool ignore_case = false;
    /// Categorical: only so many first characters (UTF-8) of a field are looked at; 0: all.
    std::int64_t prefix = 0;
    /// Categorical: a field that is a number from low to high, both included, is this value, unless
    /// it is a spelling of a value, or of a missing one (of which the whole field is looked at). A
    /// value that only ranges name is its own spelling.
    struct Range {
      std::size_t value = 0;  ///< its place in `values`
      double low = 0;
      double high = 0;
    };
    std::vector<Range> ranges = {};
    int group = -1;  ///< one-hot: columns of one group, of which at most one is 1
    /// Of its values, with all of their spellings: `NO or >30`.
    std::vector<std::string> names() const;
    /// Of the features that it becomes, in order.
    std::vector<std::string> feature_names() const;
    /// Their number.
    std::size_t features() const;
    /// Numeric, without `edges`: the feature that a value becomes, in [0, 1].
    double scaled(double value) const;
  };

  // [file]
  bool has_file_table = false;  ///< without one, all below is as it stands here
  bool header = false;
  char separator = ',';
  std::string comment;  ///< lines that begin with this are skipped; empty: none
  std::int64_t skip_lines = 0;
  std::vector<std::string> missing = {""};

  std::vector<Column> columns;
  Label label = Label::kTwoClasses;
  bool has_units = false;
  std::string text;  ///< that it was read from: models carry it

  /// Fails with kIo if the file can't be read, kBadData (with file:line:column) if it is not a
  /// schema: syntax, unknown keys, bounds or lists that are not declared, not exactly one label,
  /// and questions of a draft without an answer ("TODO: …"). The message lists all mistakes.
  static Expected<Schema> load(const std::string& path);
  /// `name` stands for the path in messages.
  static Expected<Schema> parse(std::string_view toml, const std::string& name);

  /// What is protected: the person column's name, or `row` without one.
  std::string unit() const;
  /// Names of the encoded features, in order (without bias).
  std::vector<std::string> feature_names() const;
  /// Null if it has none, which a schema that was read never is.
  const Column* label_column() const;
  /// Names of the classes by stored label, with all of their spellings: `NO or >30`; empty for a
  /// numeric label.
  std::vector<std::string> class_names() const;
  /// Whether these are its classes. Files of version 0.1 have the first spelling of each.
  bool is_named(const std::vector<std::string>& classes) const;
  /// The stored label of the class with this name or spelling; none: it has no such class.
  std::optional<std::size_t> class_called(std::string_view name) const;
  /// The bound on the L2 norm of an encoded row that follows from the declarations alone.
  double row_norm_bound(bool bias) const;
  /// Most non-zero features of an encoded row (without bias).
  std::int64_t max_entries() const;
  /// Number of groups of one-hot columns.
  int groups() const;
};

}  // namespace sotto
