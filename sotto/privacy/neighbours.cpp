#include "sotto/privacy/neighbours.hpp"

#include <fmt/format.h>

#include "sotto/core/check.hpp"
#include "sotto/core/nearest.hpp"

namespace sotto {

std::string_view to_string(Relation relation) {
  switch (relation) {
    case Relation::kZeroOut:
      return "zero-out";
    case Relation::kReplaceOne:
      return "replace-one";
    case Relation::kAddRemove:
      return "add-remove";
  }
  SOTTO_CHECK(false);
  return {};
}

Expected<Relation> parse_relation(std::string_view text) {
  for (const Relation relation :
       {Relation::kZeroOut, Relation::kReplaceOne, Relation::kAddRemove}) {
    if (text == to_string(relation)) return relation;
  }
  return fail(
      ErrorKind::kUsage,
      fmt::format("unknown neighbouring relation '{}'.{} Use zero-out (one record may become "
                  "a null), replace-one or add-remove.",
                  text,
                  did_you_mean(text, {"zero-out", "replace-one", "add-remove"})));
}

double sum_sensitivity(Relation relation, double clip_radius) {
  return relation == Relation::kReplaceOne ? 2 * clip_radius : clip_radius;
}

}  // namespace sotto
