#include "sotto/data/io/line_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace sotto {

Error LineErrors::to_error(const std::string& path) const {
  std::string message;
  for (std::size_t i = 0; i < std::min(errors_.size(), kShown); ++i) {
    const Entry& error = errors_[i];
    fmt::format_to(std::back_inserter(message),
                   "{}{}:{}:{}: {}",
                   i == 0 ? "" : "\n",
                   path,
                   error.line,
                   error.column,
                   error.text);
  }
  if (errors_.size() > kShown)
    message += fmt::format("\n{}: more lines are bad; the first {} are shown.", path, kShown);
  return Error{ErrorKind::kBadData, std::move(message)};
}

}  // namespace sotto
