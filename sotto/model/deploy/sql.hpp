#pragma once

#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/model/model.hpp"

namespace sotto {

struct SqlOptions {
  /// Where the rows are. Dots separate parts (`clinic.visits`); a part in double quotes is taken as
  /// it is.
  std::string table = "rows";
  std::string view;               ///< the statement makes this view; empty: it is a query
  std::vector<std::string> keep;  ///< columns that are copied into the answer
};

/// One statement that SQLite (3.35 and later, with its mathematical functions) and PostgreSQL (12
/// and later) both run: from the columns of the model's schema to `prediction`, and of a classifier
/// `probability` (of the second of two classes; of more, one for each) and `score`. A row that the
/// schema does not allow gets NULL. kUsage: a model without a schema, a column or a layer that has
/// no SQL, a statement that SQLite would not take for its length.
Expected<std::string> to_sql(const Model& model, const SqlOptions& options);

}  // namespace sotto
