#pragma once

#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/table.hpp"

namespace sotto {

/// What the labels mean; decided by the loss, not by the file.
enum class LabelKind {
  kBinary,      ///< two classes, stored as -1 and +1
  kMulticlass,  ///< k classes, stored as 0 … k-1
  kReal,        ///< numbers
};

/// How rows are laid out in memory.
enum class Layout { kAuto, kDense, kSparse };

/// What every reader needs to know beside the path. All of it is public.
struct ReadOptions {
  LabelKind labels = LabelKind::kBinary;
  /// Class values in the order of the stored labels ({negative, positive} for two). If empty they
  /// are taken from the file, in increasing order, and a note says so.
  std::vector<std::string> classes;
  Layout layout = Layout::kAuto;
  double row_norm = 0;  ///< rescale longer rows to this norm, bias included; 0: leave rows as is
  bool bias = false;    ///< append a constant-one feature
};

/// A table with the public facts that came with it.
struct LoadedData {
  Table table;
  /// What was taken from the file although it was not declared, one sentence each, for the user.
  std::vector<std::string> notes;
  /// Declared public bound on the row norms, bias included; 0 if nothing declares one.
  double row_norm_bound = 0;
  /// One name a feature (bias last), or empty if the format has no names.
  std::vector<std::string> feature_names;
  /// Class names by stored label ({negative, positive} for two); empty for real labels.
  std::vector<std::string> class_names;
};

/// Maps class values in `labels` to the table's convention, in place, and returns the class names.
/// Adds a note if the classes came from the labels themselves. `path` is for messages. Fails with
/// kBadData if the labels are not two classes (kBinary), not whole numbers (kMulticlass), or not
/// among the declared classes.
Expected<std::vector<std::string>> map_labels(std::span<float> labels,
                                              const ReadOptions& options,
                                              const std::string& path,
                                              std::vector<std::string>& notes);

/// Fails with kUsage if an option makes no sense whatever the file.
Expected<void> check_options(const ReadOptions& options);

}  // namespace sotto
