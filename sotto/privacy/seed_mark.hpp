#pragma once

#include <nlohmann/json.hpp>

namespace sotto {

/// Stands beside an epsilon wherever one is shown: with a known seed it holds only while nobody
/// else knows the seed. Empty otherwise.
inline const char* seed_mark(bool seeded) { return seeded ? " IF ITS SEED IS SECRET" : ""; }

/// The same for machines: a seeded run is not private, but would be.
inline void state_private(nlohmann::json& json, bool is_private, bool seeded) {
  json["private"] = is_private && !seeded;
  if (seeded) json["private_if_seed_secret"] = is_private;
}

}  // namespace sotto
