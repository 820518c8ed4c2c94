#pragma once

#include <string>

#include "sotto/data/dataset.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// Reads a CSV file, plain or gzip, as its schema says (docs/reference/schema.md has the rules of
/// encoding). Fields may stand in double quotes ("" is a quote inside) but not span lines; blanks
/// around a field and blank lines don't count. With a header its names must be exactly the
/// schema's, in any order; without one the columns are in the schema's order.
///
/// Class names and the declared bound on row norms come from the schema. `options.classes` must be
/// empty. Layout kAuto: sparse if at most a quarter of the features can be non-zero.
/// Parsing uses all threads; peak memory is the table's plus about 10 MB.
/// Fails with kIo, kBadData (refused rows: too few or too many fields, an unclosed quote, a value
/// that is not a number, a missing value without a rule, an undeclared label, no person; a header
/// that differs) or kUsage (options that don't fit the schema).
Expected<Dataset> read_csv(const std::string& path,
                           const Schema& schema,
                           const ReadOptions& options);

}  // namespace sotto
