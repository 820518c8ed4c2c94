#include "sotto/model/deploy/c_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sotto/core/text.hpp"

namespace sotto::deploy {
namespace {

/// Keywords of C and C++, and macros in small letters of common headers and compilers.
constexpr std::array kReserved = {"alignas",
                                  "alignof",
                                  "and",
                                  "and_eq",
                                  "asm",
                                  "assert",
                                  "auto",
                                  "bitand",
                                  "bitor",
                                  "bool",
                                  "break",
                                  "case",
                                  "catch",
                                  "char",
                                  "char16_t",
                                  "char32_t",
                                  "char8_t",
                                  "class",
                                  "co_await",
                                  "co_return",
                                  "co_yield",
                                  "compl",
                                  "complex",
                                  "concept",
                                  "const",
                                  "consteval",
                                  "constexpr",
                                  "constinit",
                                  "continue",
                                  "decltype",
                                  "default",
                                  "delete",
                                  "do",
                                  "double",
                                  "else",
                                  "enum",
                                  "errno",
                                  "explicit",
                                  "export",
                                  "extern",
                                  "false",
                                  "far",
                                  "float",
                                  "for",
                                  "friend",
                                  "goto",
                                  "huge",
                                  "i386",
                                  "if",
                                  "imaginary",
                                  "inline",
                                  "int",
                                  "linux",
                                  "long",
                                  "mutable",
                                  "namespace",
                                  "near",
                                  "new",
                                  "noexcept",
                                  "not",
                                  "not_eq",
                                  "nullptr",
                                  "operator",
                                  "or",
                                  "or_eq",
                                  "pascal",
                                  "private",
                                  "protected",
                                  "public",
                                  "register",
                                  "requires",
                                  "restrict",
                                  "return",
                                  "short",
                                  "signed",
                                  "sizeof",
                                  "static",
                                  "stderr",
                                  "stdin",
                                  "stdout",
                                  "struct",
                                  "switch",
                                  "template",
                                  "this",
                                  "throw",
                                  "true",
                                  "try",
                                  "typedef",
                                  "typeid",
                                  "typename",
                                  "typeof",
                                  "union",
                                  "unix",
                                  "unsigned",
                                  "using",
                                  "virtual",
                                  "void",
                                  "volatile",
                                  "wchar_t",
                                  "while",
                                  "xor",
                                  "xor_eq",
                                  "thread_local",
                                  "static_assert",
                                  "const_cast",
                                  "dynamic_cast",
                                  "reinterpret_cast",
                                  "static_cast"};

constexpr std::size_t kLongest = 60;  ///< C99 promises 63 characters that count

}  // namespace

std::string c_identifier(std::string_view name) {
  std::string result;
  for (const char c : name.substr(0, kLongest)) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (upper || kept)
      result += upper ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!result.empty() && result.back() != '_')  // two would be the compiler's
      result += '_';
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  if (result.empty() || (result[0] >= '0' && result[0] <= '9')) result = "x" + result;
  if (std::find(kReserved.begin(), kReserved.end(), result) != kReserved.end()) result += "_column";
  return result;
}

std::string CNames::operator()(std::string_view name) {
  const std::string plain = c_identifier(name);
  std::string result = plain;
  for (int k = 2; !taken_.insert(result).second; ++k) result = fmt::format("{}_{}", plain, k);
  return result;
}

std::string c_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte > '~')
      result += fmt::format("\\{:03o}", byte);  // at most three digits, whatever follows
    else if (c == '"' || c == '\\' || c == '?')
      result += {'\\', c};
    else
      result += c;
  }
  return result + '"';
}

std::string c_comment(std::string_view text) {
  std::string result;
  for (const char c : on_one_line(text)) {
    const char last = result.empty() ? '\0' : result.back();
    if ((c == '/' && last == '*') || (c == '*' && last == '/') || (c == '?' && last == '?'))
      result += ' ';
    result += c;
  }
  if (result.ends_with('\\')) result += ' ';
  return result;
}

}  // namespace sotto::deploy
