#include <fmt/format.h>

#include <iterator>

#include "sotto/data/io/libsvm.hpp"
#include "sotto/data/io/output_file.hpp"

namespace sotto {

Expected<void> write_libsvm(const std::string& path, const Table& table) {
  SOTTO_TRY(refuse_units(table));
  SOTTO_ASSIGN(OutputFile file, OutputFile::create(path));
  fmt::memory_buffer line;
  const auto out = std::back_inserter(line);
  const auto entry = [&](std::int64_t column, float value) {
    if (value != 0) fmt::format_to(out, " {}:{}", column + 1, value);
  };
  for (std::int64_t i = 0; i < table.rows(); ++i) {
    line.clear();
    const float label = table.labels()[static_cast<std::size_t>(i)];
    fmt::format_to(out, "{}", label);
    if (table.sparse()) {
      const auto at = [&](std::int64_t k) {
        return static_cast<std::size_t>(table.offsets()[static_cast<std::size_t>(k)]);
      };
      for (std::size_t k = at(i); k < at(i + 1); ++k) entry(table.columns()[k], table.values()[k]);
    } else {
      for (std::int64_t j = 0; j < table.dim(); ++j) entry(j, table.row(i)[j]);
    }
    line.push_back('\n');
    file.write({line.data(), line.size()});
  }
  return file.commit();
}

}  // namespace sotto
