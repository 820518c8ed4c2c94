#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/dataset.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

struct FormatInfo;
/// A format of rows: its line in the table of load.cpp. Null: found by the file's name.
using Format = const FormatInfo*;

/// Reads "auto" or the name of a format, such as "libsvm"; kUsage for anything else.
Expected<Format> parse_format(const std::string& name);

struct LoadOptions : ReadOptions {
  /// The file; for the pair formats (npy, idx) "FEATURES,LABELS"; CIFAR also a folder or a list.
  std::string path;
  /// Null: that of a schema if one is given, else by the name's end (.csv, .npy, idx?-ubyte, and
  /// .bin or a folder for cifar10; .gz is looked through), else libsvm.
  Format format = nullptr;
  std::string schema;       ///< path of the TOML schema of a CSV file
  std::string schema_text;  ///< instead of a path: the schema itself, e.g. from inside a model
  bool has_schema() const { return !schema.empty() || !schema_text.empty(); }
};

/// All that is known of a format beside its reader.
struct FormatInfo {
  std::string_view name;
  Expected<Dataset> (*read)(const LoadOptions& options);
  /// Null: tables are not written so.
  Expected<void> (*write)(const std::string& path, const Table& table) = nullptr;
  /// Whether a name, `.gz` left out, is that of such a file; null: no name says so.
  bool (*is_named)(const std::string& path) = nullptr;
  /// The files that a path means, where it may mean several; null: the one of that name.
  Expected<std::vector<std::string>> (*files)(const std::string& path) = nullptr;
  bool in_one_go = false;       ///< from front to back, so that rows may come through a pipe
  bool has_schema = false;      ///< a schema declares its columns and classes
  bool declares_dim = false;    ///< its files don't say how many features they have
  bool labels_are_any = false;  ///< labels are numbers: no convention says which are classes
};

/// The schema that the options name. Only if they have one.
Expected<Schema> read_schema(const LoadOptions& options);

/// The format that load_table will use; never null.
Format resolve_format(const LoadOptions& options);

/// The files that `options.path` means in its format: two for a pair, those of a list or a folder
/// for CIFAR. In all other formats a comma is a part of the name.
std::vector<std::string> data_files(const LoadOptions& options);

/// Reads a table in any format; see read_libsvm, read_csv, read_npy, read_idx and read_cifar for
/// what each does and how it fails. A CSV file without a schema, or a pair with one name, is
/// kUsage.
Expected<Dataset> load_table(const LoadOptions& options);

/// Writes a table as libsvm, or as an npy pair if `path` is "X.npy,y.npy"; atomically.
Expected<void> write_table(const std::string& path, const Table& table);

/// What `sotto data info` shows. Without diagnostics only public facts: the number of units, which
/// the zero-out and replace-one relations don't hide (or the declared public n, which add-remove
/// needs), and what was declared.
struct DataInfo {
  std::string path;
  std::string format;
  std::int64_t units = 0;       ///< rows, or persons if there is a unit column
  bool units_declared = false;  ///< `units` is the declared public n
  bool persons = false;         ///< a unit is a person with one or more rows
  std::int64_t dim = 0;         ///< features, bias included
  double row_norm_bound = 0;    ///< 0: none declared
  std::vector<std::string> class_names;
  std::vector<std::string> feature_names;
  std::vector<std::string> notes;

  /// Computed from the rows: NOT private. Only on explicit request (--unsafe-diagnostics).
  struct Diagnostics {
    std::int64_t file_bytes = 0;  ///< of the first file: as many as its rows need
    std::int64_t rows = 0;
    std::int64_t largest_unit = 0;         ///< rows of the largest unit
    std::vector<std::int64_t> class_rows;  ///< by class; empty for real labels
    double label_min = 0, label_mean = 0, label_max = 0;
    double norm_min = 0, norm_mean = 0, norm_max = 0;
    double density = 0;  ///< share of values that are not zero
    bool sparse = false;
    std::size_t table_bytes = 0;
  };
  std::optional<Diagnostics> diagnostics;
};

/// `data` is what load_table(options) gave. `public_n`: the declared number of units, shown instead
/// of the true one.
Expected<DataInfo> describe(const LoadOptions& options,
                            const Dataset& data,
                            std::optional<std::int64_t> public_n,
                            bool unsafe_diagnostics);

}  // namespace sotto
