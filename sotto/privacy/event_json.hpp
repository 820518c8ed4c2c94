#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sotto/privacy/event.hpp"

namespace sotto {

/// How deep events may nest in files and texts, so that none can exhaust the stack.
inline constexpr int kDeepestEvent = 100;

/// One object per node with its kind, its numbers under the names of event.hpp, and `inner` or
/// `parts`; leaves carry their relation as `neighbours`.
nlohmann::json to_json(const Event& event);
Expected<Event> event_from_json(const nlohmann::json& json);

}  // namespace sotto
