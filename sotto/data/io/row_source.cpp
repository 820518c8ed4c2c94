#include "sotto/data/io/row_source.hpp"

#include <fmt/format.h>

#include "sotto/data/sql/row_text.hpp"

namespace sotto {

Expected<RowSource> open_row_source(const std::string& path, const ReadOptions& options) {
  SOTTO_TRY(check_is_readable_here(path));
  const bool any_content = options.misfits == Misfits::kNull;
  if (path == "-") {
    SOTTO_ASSIGN(InputFile file, InputFile::standard_input(options.limits, any_content));
    return RowSource{std::move(file)};
  }
  if (!is_database(path)) {
    SOTTO_ASSIGN(InputFile file, InputFile::open(path, any_content, options.limits));
    return RowSource{std::move(file)};
  }
  SOTTO_ASSIGN(const DatabasePath database, parse_database_path(path));
  SOTTO_ASSIGN(auto rows,
               database.is_file() ? open_sqlite(database, options.limits)
                                  : open_postgres(database, any_content));
  std::vector<std::string> binary;
  for (const SqlRows::Column& column : rows->columns())
    if (column.binary) binary.push_back(column.name);
  if (rows->columns().empty())
    return fail(ErrorKind::kBadData, fmt::format("{}: its rows have no columns.", database.shown));
  auto text = std::make_unique<RowText>(std::move(rows), options.limits);
  return RowSource{InputFile::of(database.shown, std::move(text)), true, std::move(binary)};
}

Expected<void> check_is_readable_here(const std::string& path) {
  if (is_database(path)) return {};
  for (const char* suffix : {".parquet", ".arrow", ".feather"})
    if (path.ends_with(suffix))
      return fail(ErrorKind::kUsage,
                  fmt::format("{}: Parquet and Arrow files come with the Python package, which is "
                              "not there yet. Convert the file to CSV first, for example with "
                              "pandas: read_parquet(…).to_csv(…, index=False).",
                              path));
  return {};
}

}  // namespace sotto
