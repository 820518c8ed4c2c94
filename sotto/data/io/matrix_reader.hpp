#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sotto/data/io/input_file.hpp"
#include "sotto/data/table.hpp"

namespace sotto {

/// Reads `rows` binary rows of `row_bytes` each into `builder`, on all threads, without a second
/// copy of the table. `decode(row, bytes, writer)` writes one row, or names the column (from 0)
/// whose value is not finite. `row_entries`: most entries of a row, for sparse tables. Fails with
/// kBadData if the file ends early or goes on after the last row.
Expected<void> read_matrix(
    InputFile& file,
    std::int64_t rows,
    std::int64_t row_bytes,
    std::int64_t row_entries,
    const std::function<std::optional<std::int64_t>(
        std::int64_t row, const char* bytes, TableBuilder::Writer& writer)>& decode,
    TableBuilder& builder);

/// Fails with kBadData unless the file ends here.
Expected<void> expect_end(InputFile& file);

/// Reads exactly `bytes` or fails with kBadData.
Expected<std::string> read_exactly(InputFile& file, std::size_t bytes, const char* what);

}  // namespace sotto
