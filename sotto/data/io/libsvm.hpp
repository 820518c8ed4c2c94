#pragma once

#include <cstdint>
#include <string>

#include "sotto/data/dataset.hpp"

namespace sotto {

struct LibsvmOptions : ReadOptions {
  /// Number of features, a public fact. 0: the largest index in the file, which a note then says.
  std::int64_t dim = 0;
};

/// Reads LIBSVM / SVMlight text, plain or gzip: `label index:value …` a line, indices from 1 and
/// increasing, `#` starts a comment, blank lines are skipped. Explicit zeros are kept.
///
/// Layout kAuto: dense if more than a quarter of the values are present. If dim or the layout is
/// not given, the file is scanned once before it is parsed. Parsing uses all threads; peak memory
/// is the table's plus about 10 MB. Fails with kIo (missing, directory), kBadData (empty, damaged
/// or truncated gzip, and for each of the first ten bad lines path:line:column: bad label or index,
/// index 0, above dim, repeated or decreasing, value not finite; labels that don't fit
/// options.labels), kUsage (options).
Expected<LoadedData> read_libsvm(const std::string& path, const LibsvmOptions& options);

/// Writes a table, atomically; gzip if the name ends in .gz. Zeros are left out and numbers are
/// written so that reading gives the same floats; labels as stored (-1 / +1 for two classes).
/// Fails with kIo, or kUsage if rows share a person, which the format can't say.
Expected<void> write_libsvm(const std::string& path, const Table& table);

}  // namespace sotto
