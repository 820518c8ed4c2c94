#pragma once

#include <string_view>

#include "sotto/core/error.hpp"

namespace sotto {

/// Which pairs of data sets must be indistinguishable. It sets the sensitivity of a clipped sum and
/// which sampling theorem may be used; events of different relations can't be composed.
enum class Relation {
  kZeroOut,     ///< one record may become a null that contributes nothing; n is public (default)
  kReplaceOne,  ///< one record may become any other record; n is public
  kAddRemove,   ///< one record may appear or disappear; n is private, a public number is declared
};

/// `zero-out`, `replace-one`, `add-remove`.
std::string_view to_string(Relation relation);
Expected<Relation> parse_relation(std::string_view text);

/// L2 sensitivity of a sum of terms of norm at most `clip_radius`: C, or 2C under replace-one.
double sum_sensitivity(Relation relation, double clip_radius);

}  // namespace sotto
