#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sotto/data/column_facts.hpp"
#include "sotto/data/header_line.hpp"
#include "sotto/data/schema_reading.hpp"

namespace sotto {

/// What may be a mistake in a schema that can be read. By public facts alone: the schema, a
/// dictionary, the names in a header; never by rows.
struct SchemaRemark {
  SchemaReading::Place place;
  std::string text;
};

struct RemarkSources {
  const std::vector<ColumnFacts>* dictionary = nullptr;  ///< null: there is none
  const HeaderLine* header = nullptr;                    ///< null: there is none
};

/// By place.
std::vector<SchemaRemark> remarks_on(const SchemaReading& reading, const RemarkSources& sources);

}  // namespace sotto
