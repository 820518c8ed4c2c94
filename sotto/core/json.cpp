#include "sotto/core/json.hpp"

namespace sotto {
namespace {

constexpr int kDeepest = 64;

}  // namespace

Expected<nlohmann::json> parse_json(std::string_view text) {
  bool too_deep = false;
  const auto watch = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;
  };
  nlohmann::json value = nlohmann::json::parse(text, watch, false);
  if (too_deep) return fail(ErrorKind::kBadData, "it is nested too deeply");
  if (value.is_discarded()) return fail(ErrorKind::kBadData, "it is not JSON");
  return value;
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
