#pragma once

// For tests only (tests/neighbours): a listener at the one door through which numbers leave the
// data. No program installs one. Optimizers can't include this header
// (tests/core/include_graph_test.cpp), and what the doors call (release/released.hpp,
// release/sensitive.hpp, mechanism/grid.cpp) does nothing where nobody listens.

#include <typeinfo>

#include "sotto/privacy/event.hpp"
#include "sotto/release/sensitive.hpp"

namespace sotto {

/// Sees every sealed value, every noise grid and every answer of a run, in their order; may put
/// another value in the place of an answer. A new mechanism is heard without doing anything for it:
/// it can't let a number out without a Sensitive and a Released.
class ReleaseTap {
 public:
  virtual ~ReleaseTap() = default;

  /// A mechanism opens a sealed value; `value` points to an object of `type`, before any noise.
  virtual void opened(const std::type_info& type, void* value, const SensitivityClaim& claim) = 0;
  /// A grid was made for a value of this sensitivity: internal::grid_unit's arguments and result.
  virtual void grid(double sensitivity, double reach, double rounding, double unit) = 0;
  /// An answer leaves; `value` points to an object of `type` that may be assigned to.
  virtual void released(const std::type_info& type, void* value, const Event& event) = 0;
};

/// Makes `tap` (null: nobody) the listener, and returns the one before. Not for several threads:
/// releases are made one after the other.
ReleaseTap* listen_to_releases(ReleaseTap* tap);

}  // namespace sotto
