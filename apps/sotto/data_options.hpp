#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/load.hpp"
#include "verb.hpp"

namespace sotto::app {

/// A table with what the model file remembers of its origin.
struct LoadedFile : LoadedData {
  std::string unit = "row";  ///< what is protected: a row, or the schema's person column
  std::string schema_text;   ///< the schema file's text, empty without one
};

/// What further rows must agree with.
struct TrainingFacts {
  std::int64_t features = 0;  ///< without the bias
  std::vector<std::string> class_names;
};

/// What a schema alone tells, before any row is read.
struct SchemaFacts {
  std::int64_t dimension = 0;
  double row_norm_bound = 0;
  bool has_units = false;  ///< a column that says whose row it is
};

/// The options that say how rows are read, the same for every verb.
struct DataArguments {
  std::string format = "auto";
  std::string schema_path;
  std::string schema_text;  ///< instead of a path: a schema that came inside a model
  std::int64_t dim = 0;
  std::string classes;  ///< "0,1" or "0..9"; empty: the format's or the schema's
  std::string layout = "auto";
  double row_norm = 0;
  bool bias = false;
  bool no_refusals = false;
  InputLimits limits;
  bool persons = true;  ///< false: every row for itself, in the file's order

  void add_to(Verb& verb);
  /// Only those that say how large a file may be.
  void add_limits(Verb& verb);
  /// An argument or option that names rows, which may be several files.
  CLI::Option* add_rows(Verb& verb,
                        const std::string& name,
                        std::string& path,
                        const std::string& help);
  /// The files that such a path means. Only formats of several files take commas for more than a
  /// part of a name.
  std::vector<std::string> files_of(const std::string& path) const;
  Expected<LoadOptions> load_options(const std::string& path, LabelKind labels) const;
  /// `public_rows`: for a method without privacy; what is not declared may be taken from them.
  Expected<LoadedFile> load(const std::string& path, bool classification, bool public_rows) const;
  /// Other rows of the same kind, read with the training set's features and classes. They are
  /// public: rows that don't fit are refused in any case.
  Expected<LoadedFile> load_like(const std::string& path,
                                 bool classification,
                                 const TrainingFacts& training) const;
  Expected<SchemaFacts> schema_facts() const;
  /// The classes that were typed, one by one.
  Expected<std::vector<std::string>> class_list() const;

 private:
  Expected<LoadedFile> load_with(const LoadOptions& options) const;
};

/// An argument that names the file, or the pair of files, for write_table().
CLI::Option* add_table_output(Verb& verb,
                              const std::string& name,
                              std::string& path,
                              const std::string& help);

/// kUsage for names that a model must not carry: a control character could forge a line of its
/// predictions.
Expected<void> check_names(const std::vector<std::string>& classes,
                           const std::vector<std::string>& features);

}  // namespace sotto::app
