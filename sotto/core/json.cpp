#include "sotto/core/json.hpp"

#include <stdexcept>
#include <vector>

namespace sotto {
namespace {

constexpr int kDeepest = 64;

}  // namespace

Expected<nlohmann::json> parse_json(std::string_view text) {
  // The parser takes a zero byte for the end, whatever follows it, and skips a byte order mark.
  if (text.find('\0') != text.npos || text.starts_with("\xEF\xBB\xBF"))
    return fail(ErrorKind::kBadData, "it holds a zero byte or begins with a byte order mark");
  using Event = nlohmann::json::parse_event_t;
  bool too_deep = false, twice = false;
  std::vector<std::size_t> names;  // how many the objects have that are open
  const auto watch = [&](int depth, Event event, nlohmann::json& parsed) {
    too_deep = too_deep || depth > kDeepest;
    if (event == Event::object_start) names.push_back(0);
    if (event == Event::key) ++names.back();
    if (event == Event::object_end) {
      twice = twice || names.back() != parsed.size();
      names.pop_back();
    }
    return !too_deep && !twice;
  };
  nlohmann::json value = nlohmann::json::parse(text, watch, false);
  if (too_deep) return fail(ErrorKind::kBadData, "it is nested too deeply");
  // Readers differ in which of the two they take.
  if (twice) return fail(ErrorKind::kBadData, "it has a name twice in one object");
  if (value.is_discarded()) return fail(ErrorKind::kBadData, "it is not JSON");
  return value;
}

bool is_beginning_of_object(std::string_view text) {
  if (!text.starts_with('{')) return false;
  const auto watch = [](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
    if (depth > kDeepest) throw std::length_error("too deep");
    return false;  // nothing is kept
  };
  try {
    [[maybe_unused]] const auto nothing = nlohmann::json::parse(text, watch);
  } catch (const nlohmann::json::parse_error& error) {
    return error.byte > text.size();            // there is nothing wrong with what is there
  } catch (const nlohmann::json::exception&) {  // a number that no double holds
    return false;
  } catch (const std::length_error&) {
    return false;
  }
  return false;
}

nlohmann::json json_or_discarded(std::string_view text) {
  return parse_json(text).value_or(nlohmann::json(nlohmann::json::value_t::discarded));
}

std::string json_string(const nlohmann::json& object,
                        const char* name,
                        const std::string& otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

std::int64_t json_integer(const nlohmann::json& object, const char* name, std::int64_t otherwise) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return otherwise;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX) return otherwise;
  return found->get<std::int64_t>();
}

std::string json_text(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_text(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace sotto
