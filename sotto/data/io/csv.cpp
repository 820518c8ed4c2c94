#include "sotto/data/io/csv.hpp"

#include "sotto/data/io/csv_source.hpp"

namespace sotto {

Expected<Dataset> read_csv(const std::string& path,
                           const Schema& schema,
                           const ReadOptions& options) {
  SOTTO_ASSIGN(const auto source, CsvSource::open(path, schema, options));
  Dataset data = source->facts();
  TableBuilder builder = source->builder();
  SOTTO_TRY(read_rows(source->lines(), source->format(), options, builder));
  data.table = std::move(builder).finish();
  return data;
}

}  // namespace sotto
