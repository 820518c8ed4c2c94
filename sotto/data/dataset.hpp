#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/limits.hpp"
#include "sotto/data/table.hpp"

namespace sotto {

/// What the labels mean; decided by the loss, not by the file.
enum class LabelKind {
  kBinary,      ///< two classes, stored as -1 and +1
  kMulticlass,  ///< k classes, stored as 0 … k-1
  kReal,        ///< numbers
};

/// What rows are read for: what a CSV file may lack of its schema's columns, or have beside them.
enum class ReadFor {
  kTraining,  ///< all of the schema's columns, and no others
  /// Public rows with labels: the person's column and ignored ones may be missing, and columns that
  /// the schema does not know are not used, as a note says.
  kEvaluation,
  kScoring,  ///< the same, and the label's column may be missing, too, or its fields empty
};

/// How rows are laid out in memory.
enum class Layout { kAuto, kDense, kSparse };

/// What every reader needs to know beside the path. All of it is public: readers fit rows to it.
struct ReadOptions {
  LabelKind labels = LabelKind::kBinary;
  /// Class values in the order of the stored labels ({negative, positive} for two). Empty: the
  /// format's convention, if it has one.
  std::vector<std::string> classes;
  /// Number of features. LIBSVM files need it; a header or a schema that says otherwise is refused.
  std::int64_t dim = 0;
  /// kAuto: by format, schema and number of features, never by what the rows hold.
  Layout layout = Layout::kAuto;
  double row_norm = 0;  ///< rescale longer rows to this norm, bias included; 0: leave rows as is
  bool bias = false;    ///< append a constant-one feature
  /// The rows are public (training without privacy, test rows): classes and the number of features
  /// may be taken from them, which a note then says. Otherwise they must be declared.
  bool public_rows = false;
  /// Persons' rows are brought together, where there is a unit column; false: every row is a unit,
  /// in the file's order.
  bool persons = true;
  /// Of a person's rows so many are kept, the first in the file's order (TableBuilder::Options); 0:
  /// all. Only where the schema declares persons.
  std::int64_t most_rows = 0;
  ReadFor purpose = ReadFor::kTraining;
  bool scoring() const { return purpose == ReadFor::kScoring; }
  /// For scoring: columns of a CSV file whose fields are handed on, by name.
  std::vector<std::string> keep = {};
  Misfits misfits = Misfits::kRefuse;
  std::int64_t shown_refusals = kShownRefusals;
  InputLimits limits{};
};

/// Rows with the public facts that came with them.
struct Dataset {
  Table table;
  std::string unit = "row";  ///< what is protected: a row, or the schema's person column
  std::string schema = {};   ///< the text of a CSV file's schema; empty for other formats
  /// What was taken from public rows because it was not declared, one sentence each.
  std::vector<std::string> notes = {};
  /// Declared public bound on the row norms, bias included; 0 if nothing declares one.
  double row_norm_bound = 0;
  /// One name per feature (bias last), or empty if the format has no names.
  std::vector<std::string> feature_names = {};
  /// Class names by stored label ({negative, positive} for two); empty for real labels.
  std::vector<std::string> class_names = {};
};

/// From the labels of a file to the table's: -1 and +1, class numbers, or the number itself.
class LabelMap {
 public:
  /// `convention`: the classes of files in this format if none are declared; empty: it has none.
  /// `path` is for messages. Fails with kUsage if classes are needed but nothing declares them, or
  /// if the declared ones are not different numbers.
  static Expected<LabelMap> make(const ReadOptions& options,
                                 const std::vector<std::string>& convention,
                                 const std::string& path);

  /// The stored label; none: it does not fit, as misfit() says.
  std::optional<float> operator()(double label) const;
  const std::string& misfit() const { return misfit_; }
  /// A label for rows that don't fit.
  float null_label() const { return labels_ == LabelKind::kBinary ? -1.0F : 0.0F; }

  /// The class names. Classes that are yet to be taken from public rows are found in `labels`,
  /// which are then mapped in place, with a note; kBadData if they are not two classes (kBinary) or
  /// not whole numbers (kMulticlass).
  Expected<std::vector<std::string>> finish(std::span<float> labels,
                                            std::vector<std::string>& notes) const;

 private:
  LabelKind labels_ = LabelKind::kBinary;
  bool from_rows_ = false;
  std::vector<float> classes_;
  std::vector<std::string> names_;
  std::string path_;
  std::string misfit_;
};

/// Fails with kUsage if a header or schema says otherwise than options.dim.
Expected<void> check_dim(const ReadOptions& options, std::int64_t dim, const std::string& path);

/// Refuses ‘most_rows’ where units are rows.
tl::unexpected<Error> no_persons();

/// Fails with kUsage if an option makes no sense whatever the file.
Expected<void> check_options(const ReadOptions& options);

}  // namespace sotto
