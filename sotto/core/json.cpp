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

std::string json_text(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_text(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace sotto
