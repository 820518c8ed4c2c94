#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/load.hpp"
#include "verb.hpp"

namespace sotto::app {

/// The options that say how rows are read, the same for every verb.
struct DataArguments {
  std::string format = "auto";
  std::string schema_path;
  std::int64_t dim = 0;
  std::string classes;  ///< "0,1" or "0..9"; empty: the format's or the schema's
  std::string layout = "auto";
  double row_norm = 0;
  /// Linear models have an intercept unless told otherwise; files that are only looked at have
  /// none unless asked for. Networks have biases of their own and don't look at it.
  bool bias = true;
  bool no_refusals = false;
  std::optional<std::int64_t> most_rows;
  InputLimits limits;

  void add_to(Verb& verb);
  /// For verbs that train.
  void add_most_rows(Verb& verb);
  /// Only those that say how large a file may be.
  void add_limits(Verb& verb);
  /// An argument or option that names rows, which may be several files.
  Option add_rows(Verb& verb, const std::string& name, std::string& path, const std::string& help);
  /// The files that such a path means. Only formats of several files take commas for more than a
  /// part of a name.
  std::vector<std::string> files_of(const std::string& path) const;
  /// The files that writing this table writes: none if the rows come from another table of the same
  /// file.
  std::vector<std::string> files_written(const std::string& table, const std::string& rows) const;
  /// Labels are left to whoever knows what they mean.
  Expected<LoadOptions> load_options(const std::string& path) const;

 private:
  /// The classes that were typed, one by one.
  Expected<std::vector<std::string>> class_list() const;
};

/// An argument that names the file, or the pair of files, for write_table().
Option add_table_output(Verb& verb,
                        const std::string& name,
                        std::string& path,
                        const std::string& help);

}  // namespace sotto::app
