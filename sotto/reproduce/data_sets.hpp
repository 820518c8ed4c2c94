#pragma once

#include <optional>
#include <string>

#include "sotto/data/table.hpp"
#include "sotto/reproduce/spec.hpp"

namespace sotto::reproduce {

/// Rows to train on, and public rows to test on if there are any.
struct DataSet {
  Table train;
  std::optional<Table> test;
  double row_norm = 0;  ///< public bound, enforced or by construction
};

/// Reads or makes a data set. `rows` > 0: at most so many training rows, `dim` > 0: that many
/// features (made-up data only). Files are looked for below `folder`, schemas below `schemas`.
/// A file that is not there is kIo and says how to name the folder.
Expected<DataSet> load_data(const DataSpec& spec,
                            const std::string& folder,
                            const std::string& specs,
                            std::int64_t rows,
                            std::int64_t dim);

/// The folder with the files: `given`, or ../shared/data seen from here or from the source tree
/// that `specs` belongs to. Empty if there is none: made-up data needs none.
std::string find_data(const std::string& given, const std::string& specs);

}  // namespace sotto::reproduce
