#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"

// Public data sets from their official places, checked by SHA-256.

namespace sotto {

/// A file as it is kept.
struct KeptFile {
  std::string path;        ///< below the output folder, with `/`
  std::int64_t bytes = 0;  ///< 0: not known
  std::string sha256;      ///< in lower case
};

enum class Packing { kPlain, kBzip2, kTarGzip };

/// A file as its place serves it.
struct RemoteFile {
  std::string name;                 ///< its name at the place, and in a mirror
  std::vector<std::string> places;  ///< addresses without the name, tried in order
  Packing packing = Packing::kPlain;
  std::string sha256;            ///< of a packed file, where it is known; plain: that of kept[0]
  std::vector<KeptFile> kept{};  ///< plain and bzip2: one
};

struct DataSet {
  std::string name;
  std::string title;
  std::vector<RemoteFile> files;
  std::string use;  ///< how `train` reads it, with {} for the folder
};

/// All that `sotto data fetch` knows.
const std::vector<DataSet>& data_sets();
/// kUsage with the list of names for another one.
Expected<const DataSet*> find_data_set(const std::string& name);

struct FetchOptions {
  std::string folder;  ///< made if it does not exist
  /// A folder or an http(s) address that holds the files under their official names (in a folder
  /// also below the data set's name, or already unpacked); empty: the official places.
  std::string mirror;
  bool progress = false;  ///< curl shows its progress on standard error
};

struct FetchedFile {
  std::string path;
  std::int64_t bytes = 0;
  bool was_there = false;
};

/// Fetches what is not there yet. Downloads go to NAME.part in the folder (and are resumed next
/// time), are checked, unpacked and renamed: a file under its own name is complete and right. Runs
/// the programs curl, tar and bzip2, without a shell, and lets none of them write more than the
/// official file has. kIo if a file can't be fetched, with the remedy; kBadData if what came or
/// what is there is not the official file. `report` hears of every kept file.
Expected<std::vector<FetchedFile>> fetch(
    const DataSet& set,
    const FetchOptions& options,
    const std::function<void(const FetchedFile&)>& report = {});

/// SHA-256 of a file's content in lower-case hexadecimal; kIo if it can't be read.
Expected<std::string> sha256_of_file(const std::string& path);

}  // namespace sotto
