#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sotto/core/error.hpp"
#include "sotto/core/keyed_hash.hpp"

namespace sotto {

/// Of the lines with one value, a person's say, the one with the highest key, and of these the
/// `most` highest: in the memory that so many lines take. What a value's line was dropped for are
/// `most` others, which only grow, so that it comes back with a higher line or not at all.
class BestPerValue {
 public:
  using Body = std::function<Expected<void>(std::int64_t number, std::string_view text)>;

  explicit BestPerValue(std::int64_t most) : most_(static_cast<std::size_t>(most)) {}

  /// Keys are no NaN, and numbers differ; of equal keys the lower number is the higher line.
  void add(std::string_view value, double key, std::int64_t number, std::string_view text);
  /// A line with a lower key need not be added.
  double least() const {
    return best_.size() < most_ ? -std::numeric_limits<double>::infinity() : ranks_.rbegin()->key;
  }
  /// Calls body for each, the highest first, until it fails.
  Expected<void> for_each(const Body& body) const;

 private:
  struct Line {
    double key = 0;
    std::int64_t number = 0;
    std::string text;
  };
  struct Rank {
    double key = 0;
    std::int64_t number = 0;
    const std::string* value = nullptr;  ///< in best_, whose keys stay where they are
    bool operator<(const Rank& other) const {
      return key != other.key ? key > other.key : number < other.number;
    }
  };

  std::size_t most_;
  std::unordered_map<std::string, Line, KeyedHash, std::equal_to<>> best_;
  std::set<Rank> ranks_;  ///< of all of them
};

/// The field of this place, from 0, in fields as append_csv_field wrote them, each with a comma.
std::string_view field_at(std::string_view fields, std::size_t place);

}  // namespace sotto
