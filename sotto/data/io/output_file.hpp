#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/file.hpp"
#include "sotto/data/io/output_column.hpp"
#include "sotto/data/table.hpp"

namespace sotto {

/// A file written as a stream (gzip if the name ends in .gz) that appears under its name only when
/// complete: bytes go to a temporary file beside it, which commit() syncs and renames. Without a
/// commit nothing is left behind.
class OutputFile {
 public:
  static Expected<OutputFile> create(const std::string& path,
                                     StreamTargets streams = StreamTargets::kRefused);
  static Expected<OutputFile> standard_output();
  /// A table of a database instead, made at commit() (sql/table_output.hpp).
  static Expected<OutputFile> table(const std::string& path, bool overwrite);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  ~OutputFile();

  /// The first line, with the columns' names: what is written is CSV.
  void begin(const std::vector<OutputColumn>& columns);
  /// A failure is remembered and reported by status() and commit().
  void write(std::string_view bytes);
  const Expected<void>& status() const;
  Expected<void> commit();

 private:
  struct State;
  explicit OutputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// kUsage if rows share a person: a format without units would lose whose rows they are, and a
/// later run would protect rows instead of persons.
Expected<void> refuse_units(const Table& table);

}  // namespace sotto
