#include "sotto/data/refusals.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "sotto/core/text.hpp"
#include "sotto/data/dataset.hpp"

namespace sotto {

void Refusals::add(std::int64_t row, std::int64_t column, std::string_view rule) {
  if (total_++ < shown_) texts_.push_back(fmt::format("{}:{}:{}: {}", path_, row, column, rule));
}

void Refusals::append(Refusals other) {
  total_ += other.total_;
  for (std::string& text : other.texts_)
    if (std::ssize(texts_) < shown_) texts_.push_back(std::move(text));
}

Expected<void> Refusals::settle(Misfits misfits, ReadFor purpose) const {
  if (misfits == Misfits::kNull || total_ == 0) return {};
  std::vector<std::string> lines = texts_;
  lines.push_back(fmt::format(
      "{}: {} not fit what is declared{}. {}",
      path_,
      total_ == 1 ? "1 row does" : fmt::format("{} rows do", total_),
      total_ > std::ssize(texts_) ? fmt::format("; the first {} are shown", texts_.size()) : "",
      purpose == ReadFor::kScoring
          ? "The predictions are not complete. Correct the file, or leave these rows out."
      : purpose == ReadFor::kEvaluation
          ? "This list is for the holder of the data, not for release: correct the file, or leave "
            "these rows out."
          : "Nothing was charged. This list is for the holder of the data, not for release: "
            "correct the file or the declaration, or let such rows count as empty with "
            "‘no_refusals’."));
  return fail_with_list(ErrorKind::kBadData, lines);
}

}  // namespace sotto
