#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/data/load.hpp"

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
};

/// The options that say how rows are read, the same for every verb.
struct DataArguments {
  std::string format = "auto";
  std::string schema_path;
  std::string schema_text;  ///< instead of a path: a schema that came inside a model
  std::int64_t dim = 0;
  double row_norm = 0;
  bool bias = false;

  void add_to(CLI::App& verb);
  Expected<LoadOptions> load_options(const std::string& path, LabelKind labels) const;
  Expected<LoadedFile> load(const std::string& path, bool classification) const;
  /// Other rows of the same kind, read with the training set's features and classes.
  Expected<LoadedFile> load_like(const std::string& path,
                                 bool classification,
                                 const TrainingFacts& training) const;
  Expected<SchemaFacts> schema_facts() const;
};

}  // namespace sotto::app
