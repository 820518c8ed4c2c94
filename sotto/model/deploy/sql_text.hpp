#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto::deploy {

/// "name", whatever is in it.
std::string sql_name(std::string_view name);
/// 'text'.
std::string sql_string(std::string_view text);
/// ('a', 'b').
std::string sql_list(const std::vector<std::string>& texts);
/// A line of a comment, with its end.
std::string sql_comment(std::string_view text);

/// Terms with plus signs between them, in groups: databases limit how deep an expression is.
std::string sql_sum(const std::vector<std::string>& terms);
/// Rounded to float32, to nearest: the upper half of a double by Veltkamp's splitting.
std::string sql_in_single(const std::string& name);
/// 1 / (1 + exp(-x)); PostgreSQL refuses to compute an exponential that is 0 or infinite.
std::string sql_sigmoid(const std::string& name);

/// A chain of queries, each of which computes columns from those of the one before.
class SqlSteps {
 public:
  /// `from`: the first one's table.
  explicit SqlSteps(std::string from);

  /// A column of the next step.
  void add(const std::string& name, const std::string& expression) {
    columns_.push_back(expression + " AS " + name);
  }
  /// One that stays as it is.
  void keep(const std::string& name) { columns_.push_back(name); }
  void end_step();
  /// With SELECT of the columns that were added since the last step.
  std::string text() &&;
  /// Most columns of an ended step.
  std::size_t widest() const { return widest_; }

 private:
  std::string select() const;

  std::string from_;
  std::string prefix_ = "sotto_step_";
  std::vector<std::string> columns_;
  std::string text_;
  int steps_ = 0;
  std::size_t widest_ = 0;
};

}  // namespace sotto::deploy
