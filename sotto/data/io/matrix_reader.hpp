#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sotto/data/io/input_file.hpp"
#include "sotto/data/refusals.hpp"
#include "sotto/data/table.hpp"

namespace sotto {

/// Reads `rows` binary rows of `row_bytes` each into `builder`, on all threads, without a second
/// copy of the table. `decode(row, bytes, writer, refusals)` writes one row (counted from 0), as a
/// null one with an entry among the refusals if it does not fit. `row_entries`: most entries of a
/// row, for sparse tables. Fails with kBadData if the file ends early or goes on after the last
/// row.
Expected<void> read_matrix(
    InputFile& file,
    std::int64_t rows,
    std::int64_t row_bytes,
    std::int64_t row_entries,
    const std::function<void(
        std::int64_t row, const char* bytes, TableBuilder::Writer& writer, Refusals& refusals)>&
        decode,
    TableBuilder& builder,
    Refusals& refusals);

/// kBadData, with the file's name before the text.
tl::unexpected<Error> bad_file(const InputFile& file, const std::string& text);

/// Fails with kBadData unless the file ends here.
Expected<void> expect_end(InputFile& file);

/// Reads exactly `bytes` or fails with kBadData.
Expected<std::string> read_exactly(InputFile& file, std::size_t bytes, const char* what);

}  // namespace sotto
