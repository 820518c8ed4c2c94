#include "printer.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "sotto/core/json.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/data/sql/database_path.hpp"

namespace sotto::app {
namespace {

bool lost = false;
std::FILE* results = stdout;

void put(std::FILE* stream, std::string_view text, bool& failed) noexcept {
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size()) failed = true;
}

/// `?NAME=VALUE&…` with stars for a password.
std::string without_secret_values(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t next = std::min(text.find_first_of("?&", 1), text.size());
    const std::string_view one = text.substr(0, next);
    const std::size_t equals = one.find('=');
    const bool hides = (one.front() == '?' || one.front() == '&') && equals != one.npos &&
                       is_secret_parameter(one.substr(1, equals - 1));
    result += hides ? std::string(one.substr(0, equals + 1)) + "***" : std::string(one);
    text.remove_prefix(next);
  }
  return result;
}

/// A database's path with a password is refused, by messages that don't show it; here it is hidden
/// from those that quote what was typed, whatever it was typed for.
std::string without_passwords(std::string_view text) {
  std::string result;
  for (;;) {
    const std::size_t scheme = text.find("://");
    if (scheme == text.npos) return result + std::string(text);
    const std::size_t begin = scheme + 3;
    const std::size_t end = std::min(text.find_first_of(" \t\n", begin), text.size());
    const std::size_t at = text.substr(0, end).rfind('@');
    const std::size_t colon = text.find(':', begin);
    const std::string_view before = text.substr(0, scheme);
    const bool is_postgres = before.ends_with("postgresql") || before.ends_with("postgres");
    const bool hides = is_postgres && at != text.npos && at > begin && colon < at;
    result += text.substr(0, hides ? colon + 1 : begin);
    if (hides) result += "***";
    const std::size_t from = hides ? at : begin;
    const std::string_view rest = text.substr(from, end - from);
    result += is_postgres ? without_secret_values(rest) : std::string(rest);
    text.remove_prefix(end);
  }
}

}  // namespace

void print_text(std::string_view text) { put(results, escaped(text), lost); }

void say_text(std::string_view text) {
  say_to_terminal(escaped(without_passwords(with_flags(text))));
}

void say_to_terminal(std::string_view text) noexcept {
  bool ignored = false;
  put(stderr, text, ignored);
}

void print_json_text(std::string_view text) { put(results, escaped_json(text), lost); }

void say_error(const Error& error) {
  if (error.is_list)
    say_text("sotto: " + error.message + "\n");
  else
    say("sotto: {}\n", error.message);
}

void print_json(const nlohmann::json& value, int indent) {
  print_json_text(json_text(value, indent) + "\n");
}

ResultsOnStandardError::ResultsOnStandardError() noexcept { results = stderr; }
ResultsOnStandardError::~ResultsOnStandardError() { results = stdout; }

bool flush_printed() noexcept {
  if (std::fflush(stdout) != 0) lost = true;
  return !std::exchange(lost, false);
}

}  // namespace sotto::app
