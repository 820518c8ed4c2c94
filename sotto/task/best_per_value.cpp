#include "sotto/task/best_per_value.hpp"

#include <algorithm>

namespace sotto {

void BestPerValue::add(std::string_view value,
                       double key,
                       std::int64_t number,
                       std::string_view text) {
  auto found = best_.find(value);
  if (found != best_.end()) {
    const Line& line = found->second;
    if (key < line.key || (key == line.key && number > line.number)) return;
    ranks_.erase({line.key, line.number, &found->first});
  } else {
    if (best_.size() == most_ && !(Rank{key, number, nullptr} < *ranks_.rbegin())) return;
    found = best_.emplace(value, Line()).first;
  }
  found->second = {key, number, std::string(text)};
  ranks_.insert({key, number, &found->first});
  if (best_.size() <= most_) return;
  const auto last = std::prev(ranks_.end());
  best_.erase(best_.find(*last->value));
  ranks_.erase(last);
}

Expected<void> BestPerValue::for_each(const Body& body) const {
  for (const Rank& rank : ranks_)
    SOTTO_TRY(body(rank.number, best_.find(*rank.value)->second.text));
  return {};
}

std::string_view field_at(std::string_view fields, std::size_t place) {
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    if (fields[k] == '"') quoted = !quoted;  // a doubled one inside of quotes changes it twice
    if (fields[k] != ',' || quoted) continue;
    if (place-- == 0) return fields.substr(begin, k - begin);
    begin = k + 1;
  }
  return fields.substr(begin);
}

}  // namespace sotto
