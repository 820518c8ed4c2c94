#pragma once

#include <typeinfo>
#include <utility>

#include "sotto/privacy/event.hpp"

namespace sotto {

namespace internal {
/// Does nothing, unless a test listens (mechanism/release_tap.hpp).
void tell_released(const std::type_info& type, void* value, const Event& event);
}  // namespace internal

/// The right to make a Released value. The friends are the complete list of what can let a number
/// out of the data: each is a mechanism with a proof note (sotto/mechanism/*.proof.md), except
/// ExactRelease, which is the exact oracle's and always charges `non_private`.
class ReleaseKey {
  friend class GaussianMechanism;
  friend class SymmetricGaussianMechanism;
  friend class JointGaussianMechanism;
  friend class LazySymmetricOperator;
  friend class LaplaceMechanism;
  friend class ExponentialMechanism;
  friend class PermuteAndFlip;
  friend class CoordinateSelection;
  friend class SparseVectorSession;
  friend class ExactRelease;
  ReleaseKey() {
  }  // NOLINT(modernize-use-equals-default): a defaulted one could be brace-constructed
};

/// A value that has been paid for and may be seen by anybody.
template <class T>
class Released {
 public:
  Released(ReleaseKey, T value, Event event) : value_(std::move(value)), event_(std::move(event)) {
    internal::tell_released(typeid(T), &value_, event_);
  }

  const T& value() const& { return value_; }
  T value() && { return std::move(value_); }
  /// Post-processing: any function of a released value is released.
  template <class F>
  auto map(F f) && {
    using U = decltype(f(std::move(value_)));
    return Released<U>(f(std::move(value_)), std::move(event_));
  }

  /// What was charged for it.
  const Event& event() const { return event_; }

 private:
  template <class U>
  friend class Released;
  Released(T value, Event event) : value_(std::move(value)), event_(std::move(event)) {}

  T value_;
  Event event_;
};

}  // namespace sotto
