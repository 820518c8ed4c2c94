#include "sotto/privacy/event_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace sotto {
namespace {

using Json = nlohmann::json;

// JSON has no infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json("inf"); }

Json leaf(std::string_view kind, Relation relation) {
  return {{"kind", kind}, {"neighbours", to_string(relation)}};
}

Json leaf(std::string_view kind, std::string_view name, double value, Relation relation) {
  Json json = leaf(kind, relation);
  json[std::string(name)] = number(value);
  return json;
}

tl::unexpected<Error> bad(const std::string& what) {
  return fail(ErrorKind::kBadData, "the JSON event " + what + ".");
}

Expected<double> read_number(const Json& json, const char* name) {
  const auto it = json.find(name);
  if (it == json.end()) return bad(fmt::format("lacks the number '{}'", name));
  if (it->is_string() && *it == "inf") return std::numeric_limits<double>::infinity();
  if (!it->is_number()) return bad(fmt::format("has a '{}' that is not a number", name));
  return it->get<double>();
}

Expected<std::int64_t> read_integer(const Json& json, const char* name) {
  const auto it = json.find(name);
  if (it == json.end() || !it->is_number_integer()) {
    return bad(fmt::format("lacks the whole number '{}'", name));
  }
  if (it->is_number_unsigned() &&
      it->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return bad(fmt::format("has a '{}' that is too large", name));
  }
  return it->get<std::int64_t>();
}

Expected<Event> read(const Json& json, int depth);

Expected<Event> read_inner(const Json& json, int depth) {
  const auto it = json.find("inner");
  if (it == json.end()) return bad("lacks its 'inner' event");
  return read(*it, depth + 1);
}

Expected<Relation> read_relation(const Json& json) {
  const auto it = json.find("neighbours");
  if (it == json.end() || !it->is_string()) return bad("lacks 'neighbours' at a leaf");
  return parse_relation(it->get_ref<const std::string&>());
}

Expected<Event> read(const Json& json, int depth) {
  if (depth > kDeepestEvent) return bad(fmt::format("nests deeper than {}", kDeepestEvent));
  if (!json.is_object()) return bad("is not an object");
  const auto it = json.find("kind");
  if (it == json.end() || !it->is_string()) return bad("lacks its 'kind'");
  const auto& kind = it->get_ref<const std::string&>();
  if (kind == "poisson") {
    SOTTO_ASSIGN(const double rate, read_number(json, "rate"));
    SOTTO_ASSIGN(Event inner, read_inner(json, depth));
    return Event::poisson(rate, std::move(inner));
  }
  if (kind == "fixed_size") {
    SOTTO_ASSIGN(const std::int64_t batch, read_integer(json, "batch"));
    SOTTO_ASSIGN(const std::int64_t population, read_integer(json, "population"));
    SOTTO_ASSIGN(Event inner, read_inner(json, depth));
    return Event::fixed_size(batch, population, std::move(inner));
  }
  if (kind == "repeat") {
    SOTTO_ASSIGN(const std::int64_t count, read_integer(json, "count"));
    SOTTO_ASSIGN(Event inner, read_inner(json, depth));
    return Event::repeat(count, std::move(inner));
  }
  if (kind == "compose") {
    const auto parts_json = json.find("parts");
    if (parts_json == json.end() || !parts_json->is_array()) return bad("lacks its 'parts'");
    std::vector<Event> parts;
    for (const Json& part_json : *parts_json) {
      SOTTO_ASSIGN(Event part, read(part_json, depth + 1));
      parts.push_back(std::move(part));
    }
    return Event::compose(std::move(parts));
  }
  const bool noisy = kind == "gaussian" || kind == "laplace";
  if (!noisy && kind != "exponential" && kind != "sparse_vector" && kind != "non_private") {
    return bad(fmt::format("has the unknown kind '{}'", kind));
  }
  SOTTO_ASSIGN(const Relation relation, read_relation(json));
  if (kind == "non_private") return Event::non_private(relation);
  SOTTO_ASSIGN(const double value, read_number(json, noisy ? "noise_multiplier" : "epsilon"));
  if (kind == "gaussian") return Event::gaussian(value, relation);
  if (kind == "laplace") return Event::laplace(value, relation);
  if (kind == "exponential") return Event::exponential(value, relation);
  return Event::sparse_vector(value, relation);
}

}  // namespace

Json to_json(const Event& event) {
  const Event::Node& node = event.node();
  if (const auto* e = std::get_if<GaussianEvent>(&node)) {
    return leaf("gaussian", "noise_multiplier", e->noise_multiplier, e->relation);
  }
  if (const auto* e = std::get_if<LaplaceEvent>(&node)) {
    return leaf("laplace", "noise_multiplier", e->noise_multiplier, e->relation);
  }
  if (const auto* e = std::get_if<ExponentialEvent>(&node)) {
    return leaf("exponential", "epsilon", e->epsilon, e->relation);
  }
  if (const auto* e = std::get_if<SparseVectorEvent>(&node)) {
    return leaf("sparse_vector", "epsilon", e->epsilon, e->relation);
  }
  if (const auto* e = std::get_if<NonPrivateEvent>(&node)) return leaf("non_private", e->relation);
  if (const auto* e = std::get_if<PoissonEvent>(&node)) {
    return {{"kind", "poisson"}, {"rate", number(e->rate)}, {"inner", to_json(*e->inner)}};
  }
  if (const auto* e = std::get_if<FixedSizeEvent>(&node)) {
    return {{"kind", "fixed_size"},
            {"batch", e->batch},
            {"population", e->population},
            {"inner", to_json(*e->inner)}};
  }
  if (const auto* e = std::get_if<RepeatEvent>(&node)) {
    return {{"kind", "repeat"}, {"count", e->count}, {"inner", to_json(*e->inner)}};
  }
  Json parts = Json::array();
  for (const Event& part : std::get<ComposeEvent>(node).parts) parts.push_back(to_json(part));
  return {{"kind", "compose"}, {"parts", std::move(parts)}};
}

Expected<Event> event_from_json(const Json& json) {
  SOTTO_ASSIGN(Event event, read(json, 0));
  SOTTO_TRY(event.check());
  return event;
}

}  // namespace sotto
