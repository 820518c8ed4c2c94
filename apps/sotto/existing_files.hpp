#pragma once

#include <string>

#include "sotto/core/error.hpp"
#include "sotto/privacy/journal.hpp"
#include "verb.hpp"

namespace sotto::app {

/// `--again` and `--overwrite` of `train`: whether a run may be paid for, and its model be written,
/// where an earlier one's are. A journal stands for its model, so that paying again replaces that,
/// too.
struct ExistingFiles {
  bool again = false;
  bool overwrite = false;

  void add_to(Verb& verb);
  /// Before rows are opened, and before anything is charged: kUsage, with what was spent and what
  /// to type. Not for a run that is resumed.
  Expected<void> check(const std::string& model_path,
                       const std::string& journal_key,
                       bool is_private) const;
  /// The same of the journal alone, as it is when a new run is about to open it: for a run that
  /// another one overtook while its rows were read.
  JournalCondition journal_condition(const std::string& model_path) const;
  /// The model alone: also of a run that is resumed, which has not written one yet.
  Expected<void> check_model(const std::string& model_path) const;
};

/// After a run: what all that its journal holds cost, if there are several.
void tell_spent(const std::string& model_path, const std::string& journal_key);

}  // namespace sotto::app
