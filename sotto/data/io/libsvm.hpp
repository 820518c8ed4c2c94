#pragma once

#include <cstdint>
#include <string>

#include "sotto/data/dataset.hpp"

namespace sotto {

/// Reads LIBSVM / SVMlight text, plain or gzip: `label index:value …` a line, indices from 1 and
/// increasing, `#` starts a comment, blank lines are skipped. Explicit zeros are kept.
///
/// options.dim must be declared unless the rows are public: it is then the largest index in the
/// file, which costs a scan before the file is parsed. The classes of two are -1 and +1 if none are
/// declared. Layout kAuto: dense up to kMostDenseFeatures features, else sparse. Parsing uses all
/// threads; peak memory is the table's plus about 10 MB. Fails with kIo (missing, directory),
/// kBadData (empty, damaged or truncated gzip, refused rows: bad label or index, index 0, above
/// dim, repeated or decreasing, value not finite, label not declared), kUsage (options).
Expected<Dataset> read_libsvm(const std::string& path, const ReadOptions& options);

/// Where a few entries among zeros still cost about as much as a dense row of this length.
inline constexpr std::int64_t kMostDenseFeatures = 64;

/// Writes a table, atomically; gzip if the name ends in .gz. Zeros are left out and numbers are
/// written so that reading gives the same floats; labels as stored (-1 / +1 for two classes).
/// Fails with kIo, or kUsage if rows share a person, which the format can't say.
Expected<void> write_libsvm(const std::string& path, const Table& table);

}  // namespace sotto
