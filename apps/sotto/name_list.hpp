#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace sotto::app {

/// The names in a list with commas between them; empty ones are none.
inline std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

}  // namespace sotto::app
