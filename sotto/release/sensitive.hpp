#pragma once

#include <typeinfo>
#include <utility>

#include "sotto/release/released.hpp"
#include "sotto/release/sensitivity_claim.hpp"

namespace sotto {

namespace internal {
/// Does nothing, unless a test listens (release_tap.hpp).
void tell_opened(const std::type_info& type, void* value, const SensitivityClaim& claim);
}  // namespace internal

/// A value computed from rows, sealed: it can be moved but not read. Whoever seals it claims its
/// sensitivity (with a proof note); only a mechanism can open it, with a ReleaseKey.
template <class T>
class Sensitive {
 public:
  Sensitive(T value, SensitivityClaim claim) : value_(std::move(value)), claim_(claim) {}
  Sensitive(Sensitive&&) = default;
  Sensitive& operator=(Sensitive&&) = default;
  Sensitive(const Sensitive&) = delete;
  Sensitive& operator=(const Sensitive&) = delete;

  const SensitivityClaim& claim() const { return claim_; }
  T open(const ReleaseKey&) && {
    internal::tell_opened(typeid(T), &value_, claim_);
    return std::move(value_);
  }

 private:
  T value_;
  SensitivityClaim claim_;
};

}  // namespace sotto
