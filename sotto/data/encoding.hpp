#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/schema.hpp"

namespace sotto {

/// What RowEncoder does, as constants: how the features of a row follow from its columns. Other
/// programs that encode rows (model/deploy, model/onnx) are made of this alone, and a slow
/// evaluator of it is compared with RowEncoder (tests/data/encoding_test.cpp).
///
/// A row that does not fit the schema has no features: of a number that is not finite, of one that
/// is missing where nothing is declared for it, of a flag other than 0 and 1, of two flags of a
/// group.
struct Encoding {
  static constexpr std::int64_t kNone = -1;

  struct Column {
    enum class Form {
      kNumber,  ///< one feature, from 0 to 1
      kBins,    ///< one feature per bin
      kFlag,    ///< one feature that is 0 or 1
      kText,    ///< one feature per value
    };
    std::string name;
    Form form = Form::kNumber;
    std::int64_t first = 0;        ///< of its features
    std::int64_t features = 0;     ///< their number, with those of other and missing values
    std::int64_t missing = kNone;  ///< the feature of missing values
    bool refuses_missing = false;  ///< a row without a value does not fit
    int group = -1;                ///< of flags

    // Numbers and bins. A value outside the bounds counts as the bound.
    double min = 0;
    double max = 0;
    bool log1p = false;
    double when_missing = 0;              ///< number: the feature where the value is missing
    std::int64_t bin_of_missing = kNone;  ///< bins: its feature, if any
    std::vector<double> edges;            ///< bins: the first of them is below the first edge
    std::string date;                     ///< the fields are dates of this form, not numbers

    // Texts.
    struct Spelling {
      std::string text;
      std::int64_t feature = 0;
    };
    struct Range {
      double low = 0;
      double high = 0;
      std::int64_t feature = 0;
    };
    std::vector<Spelling> spellings;  ///< each text once; in small letters if these are compared
    std::vector<Range> ranges;        ///< looked at if neither is true; of several the first
    std::int64_t other = kNone;       ///< the feature of any other text
    bool ignore_case = false;         ///< of A to Z
    std::int64_t prefix = 0;          ///< only so many characters (UTF-8) are looked at; 0: all

    bool is_text() const { return form == Form::kText; }
    /// It gives at most one feature, which is 1.
    bool is_one_of_many() const { return is_text() || form == Form::kBins; }
    /// What a text becomes that is listed as missing, but not among the spellings.
    std::int64_t missing_text() const { return missing == kNone ? other : missing; }
    /// What a value becomes that is not there at all (NULL): an empty text, if the schema knows
    /// what that means, or else a missing value.
    std::int64_t absent_text() const;
    /// A number: brought to [0, 1]; not finite stays so.
    double scaled(double value) const;
  };

  std::vector<Column> columns;       ///< those that have features, in their order
  std::vector<std::string> missing;  ///< spellings of a missing value
  std::int64_t features = 0;
  int groups = 0;

  /// The spellings of a missing value that are numbers, such as 999: also where a program passes
  /// numbers, these are missing.
  std::vector<double> missing_numbers() const;
};

Encoding encoding_of(const Schema& schema);

}  // namespace sotto
