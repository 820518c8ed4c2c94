#pragma once

#include <set>
#include <string>
#include <string_view>

namespace sotto::deploy {

/// Identifiers of C99 (and C++) from any names: small letters, digits and underscores. No two are
/// the same, and none is a keyword or a macro's name of the headers that are included.
class CNames {
 public:
  std::string operator()(std::string_view name);

 private:
  std::set<std::string> taken_;
};

/// The same without a memory: for the prefix of everything in a header.
std::string c_identifier(std::string_view name);

/// A string literal with these bytes, in ASCII: no quote, escape or trigraph of the text gets out.
std::string c_string(std::string_view text);

/// A part of a line of a comment: it neither ends the comment nor begins another.
std::string c_comment(std::string_view text);

}  // namespace sotto::deploy
