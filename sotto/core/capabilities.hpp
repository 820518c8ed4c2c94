#pragma once

#include <initializer_list>
#include <string>

#include "sotto/core/names.hpp"

namespace sotto {

/// What a method may need of a model, and an engine offer.
enum class Capability : unsigned {
  kGradients = 1,
  kPairs = 2,        ///< gradients at two points in one visit of the rows
  kCoordinates = 4,  ///< gradients' entries, to choose vertices by
  kHessians = 8,
  kLosses = 16,
  kPredictions =
      32,  ///< one number per row through which it depends on the model: kCoordinates fast
};
inline constexpr Named<Capability> kCapabilities[] = {
    {Capability::kGradients, "gradients"},
    {Capability::kPairs, "gradient pairs"},
    {Capability::kCoordinates, "gradients by coordinate"},
    {Capability::kHessians, "Hessians"},
    {Capability::kLosses, "losses"},
    {Capability::kPredictions, "predictions"}};

/// A set of them.
class Capabilities {
 public:
  constexpr Capabilities(std::initializer_list<Capability> each) {
    for (const Capability one : each) bits_ |= static_cast<unsigned>(one);
  }

  constexpr bool has(Capability one) const { return (bits_ & static_cast<unsigned>(one)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr Capabilities without(Capabilities others) const {
    Capabilities rest = *this;
    rest.bits_ &= ~others.bits_;
    return rest;
  }

 private:
  unsigned bits_ = 0;
};

/// `gradients, Hessians`.
inline std::string to_string(Capabilities set) {
  std::string text;
  for (const auto& [one, name] : kCapabilities)
    if (set.has(one)) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace sotto
