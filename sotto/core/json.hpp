#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sotto/core/error.hpp"

namespace sotto {

/// JSON from a file or a user. Text that is none, or that is nested deeper than any file of Sotto's
/// (which would overflow the stack of whoever walks through it), is kBadData.
Expected<nlohmann::json> parse_json(std::string_view text);
/// The same; what is refused is a discarded value.
nlohmann::json json_or_discarded(std::string_view text);

/// As text; bytes that are no UTF-8 (a file's name may have any) are shown as U+FFFD.
std::string json_text(const nlohmann::json& value, int indent = -1);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace sotto
