#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// What a mistyped word was probably meant to be: the known one that fewest insertions, deletions,
/// replacements and swaps of neighbouring letters lead to (small letters or capitals, dashes not
/// counted), at most a third of its length. The first of several; if all are further away, the
/// first that begins with it, of three letters and more; else none.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

/// " Did you mean 'train'?", to follow a sentence; empty if nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace sotto
