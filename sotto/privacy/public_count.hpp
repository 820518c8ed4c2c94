#pragma once

#include <cstdint>

#include "sotto/core/error.hpp"
#include "sotto/core/private_count.hpp"
#include "sotto/privacy/neighbours.hpp"

namespace sotto {

/// A number of units that everybody may know: somebody declared it, or the relation makes it
/// public. It can't be made from what was counted in the data, except by counted_as_public.
class PublicCount {
 public:
  constexpr PublicCount() = default;
  /// A number that somebody wrote down: an option, a file of settings, a program's constant.
  constexpr PublicCount(std::int64_t declared) : value_(declared) {}  // NOLINT
  constexpr PublicCount(int declared) : value_(declared) {}           // NOLINT
  PublicCount(PrivateCount) = delete;

  constexpr operator std::int64_t() const { return value_; }  // NOLINT

 private:
  std::int64_t value_ = 0;
};

/// The one door from counted units to a public number: under zero-out and replace-one neighbours
/// have as many units, so that their number says nothing about any of them. Under add-remove it
/// does, and is refused (kUsage): there the number has to be declared.
inline Expected<PublicCount> counted_as_public(PrivateCount units, Relation relation) {
  if (relation == Relation::kAddRemove)
    return fail(ErrorKind::kUsage,
                "under add-remove the number of units is private. Declare a public number with "
                "‘public_n’, or choose ‘neighbours zero-out’ or replace-one");
  return PublicCount(std::int64_t{units});
}

/// A run's public number of units: the declared one under add-remove, else the counted one.
inline Expected<PublicCount> public_units(std::int64_t declared,
                                          PrivateCount counted,
                                          Relation relation) {
  if (relation == Relation::kAddRemove && declared > 0) return PublicCount(declared);
  return counted_as_public(counted, relation);
}

}  // namespace sotto
