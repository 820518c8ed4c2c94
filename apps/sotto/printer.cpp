#include "printer.hpp"

#include <cstdio>
#include <string>
#include <utility>

#include "sotto/core/json.hpp"
#include "sotto/core/option_names.hpp"

namespace sotto::app {
namespace {

bool lost = false;
std::FILE* results = stdout;

void put(std::FILE* stream, std::string_view text, bool& failed) noexcept {
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size()) failed = true;
}

}  // namespace

void print_text(std::string_view text) { put(results, escaped(text), lost); }

void say_text(std::string_view text) { say_to_terminal(escaped(with_flags(text))); }

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
