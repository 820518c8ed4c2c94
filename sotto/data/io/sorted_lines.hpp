#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/scratch_file.hpp"

namespace sotto {

/// Lines by their keys, the highest first and equal ones in the order of their numbers, however
/// many there are: where memory has no room for more, those that it holds are sorted and go to a
/// temporary file, and all such runs are merged at the end.
class SortedLines {
 public:
  static constexpr std::size_t kMemory = std::size_t{256} << 20;
  using Body = std::function<Expected<void>(std::int64_t number, std::string_view text)>;

  /// `most`: only the first so many are wanted, and not many more are kept; 0: all.
  explicit SortedLines(std::size_t memory = kMemory, std::int64_t most = 0)
      : memory_(memory), most_(static_cast<std::size_t>(most)) {}

  /// Keys are no NaN, and numbers differ.
  Expected<void> add(double key, std::int64_t number, std::string_view text);
  /// A line with a lower key is not among the first `most`, and need not be added.
  double least() const { return least_; }
  /// Calls body for each in order, once, until it fails.
  Expected<void> for_each(const Body& body) &&;
  /// Runs in the temporary file.
  std::size_t runs() const { return runs_.size(); }

 private:
  struct Line {
    double key = 0;
    std::int64_t number = 0;
    std::size_t begin = 0;  ///< of its text
    std::size_t length = 0;
  };
  struct Run {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  class Reader;

  static bool before(const Line& a, const Line& b) {
    return a.key != b.key ? a.key > b.key : a.number < b.number;
  }
  std::string_view text_of(const Line& line) const {
    return std::string_view(text_).substr(line.begin, line.length);
  }
  std::size_t bytes() const { return lines_.size() * sizeof(Line) + text_.size(); }
  void drop_last();
  Expected<void> spill();
  using KeyedBody =
      std::function<Expected<void>(double key, std::int64_t number, std::string_view text)>;
  Expected<void> merge(std::span<const Run> runs, const KeyedBody& body);
  /// Makes one of the first runs, until all that are left can be merged in the memory.
  Expected<void> merge_to_few();

  std::size_t memory_;
  std::size_t most_;
  double least_ = -std::numeric_limits<double>::infinity();
  std::vector<Line> lines_;
  std::string text_;
  std::optional<ScratchFile> file_;
  std::vector<Run> runs_;
};

}  // namespace sotto
