#include "sotto/core/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sotto {
namespace {

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// The Damerau-Levenshtein distance in which no letter is edited twice, row by row: `last[j]` is
/// that of a[0, i) and b[0, j).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> last(b.size() + 1), before(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = small(a[i - 1]) == small(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && small(a[i - 1]) == small(b[j - 2]) &&
          small(a[i - 2]) == small(b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

/// Dashes are not what people remember of a name.
std::string without_dashes(std::string_view word) {
  std::string letters;
  for (const char c : word)
    if (c != '-' && c != '_') letters += c;
  return letters;
}

/// Of several that begin so the first.
std::optional<std::string> begun_with(std::string_view word,
                                      const std::vector<std::string>& known) {
  constexpr std::size_t kTelling = 3;
  if (word.size() < kTelling) return std::nullopt;
  const auto found = std::find_if(known.begin(), known.end(), [&](const std::string& each) {
    return each.size() > word.size() && distance(word, each.substr(0, word.size())) == 0;
  });
  return found == known.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  std::optional<std::string> best;
  std::pair<std::size_t, std::size_t> least;
  for (const std::string& each : known) {
    const std::size_t most = std::max(word.size(), each.size()) / 3;
    // Also so that a word of any length costs little.
    if (word.size() > each.size() + most || each.size() > word.size() + most) continue;
    // The first counts; the second decides between `dp_sgd` and `dp-sgd`.
    const std::size_t letters = distance(without_dashes(word), without_dashes(each));
    const std::pair edits(letters, distance(word, each));
    if (letters > most || (best && edits >= least)) continue;
    best = each;
    least = edits;
  }
  return best ? best : begun_with(word, known);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  return near ? " Did you mean '" + *near + "'?" : "";
}

}  // namespace sotto
