#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/core/vector.hpp"
#include "sotto/data/table.hpp"
#include "sotto/objective/network/spec.hpp"
#include "sotto/study/spec.hpp"

namespace sotto::study {

/// A network and the parameters that its training begins with.
struct NetworkStart {
  NetworkSpec spec;
  Vector w;
};

/// Rows to train on, and public rows to test on if there are any.
struct DataSet {
  Table train;
  std::optional<Table> test;
  double row_norm = 0;                  ///< public bound, enforced or by construction
  std::optional<NetworkStart> network;  ///< none: a linear model
  std::vector<std::int64_t> relevant;   ///< sparse rows: the columns that matter, in order
};

/// Reads or makes a data set. `rows` > 0: at most so many training rows, `dim` > 0: that many
/// features (made-up data only). Files are looked for below `folders`, schemas below `specs`.
/// A file that is not there is kIo and says how to name the folder. Not for images with classes.
Expected<DataSet> load_data(const DataSpec& spec,
                            const std::vector<std::string>& folders,
                            const std::string& specs,
                            std::int64_t rows,
                            std::int64_t dim);

/// The folders with the files: `given`, or ../shared/data seen from here or from the source tree
/// that `specs` belongs to, and that tree's build/cifar, where ./dev unpacks CIFAR. None if there
/// are none: made-up data needs none.
std::vector<std::string> find_data(const std::vector<std::string>& given, const std::string& specs);

/// The path of a file or folder below the first of the folders that has it; kIo with the remedy.
Expected<std::string> file_below(const std::vector<std::string>& folders, const std::string& name);

/// The first `most` rows.
Table first_rows(const Table& table, std::int64_t most, double row_norm);

}  // namespace sotto::study
