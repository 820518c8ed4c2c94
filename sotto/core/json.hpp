#pragma once

#include <cstdint>
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
/// Whether it is the beginning of one object, but not all of it: what a write left that was cut
/// short.
bool is_beginning_of_object(std::string_view text);

/// A field of an object, or `otherwise` where there is none or it has another type: a file may hold
/// anything. Numbers that T can't hold are of another type, too.
std::string json_string(const nlohmann::json& object,
                        const char* name,
                        const std::string& otherwise = {});
std::int64_t json_integer(const nlohmann::json& object, const char* name, std::int64_t otherwise);

/// As text; bytes that are no UTF-8 (a file's name may have any) are shown as U+FFFD.
std::string json_text(const nlohmann::json& value, int indent = -1);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace sotto
