#pragma once

#include <utility>

#include "sotto/release/released.hpp"

namespace sotto {

/// A number that a later step derives from answers that were paid for: a clip radius that follows a
/// noisy count, a schedule that follows a noisy norm. Anybody may know it, and steps, radii and
/// stops may follow it. An event may not: a price is one of what was promised before the first
/// answer. So it does not turn into a plain number by itself, and no Event can be made from it
/// (tests/compile_fail/event_from_an_answer.cpp).
template <class T>
class DerivedFact {
 public:
  const T& value() const { return value_; }

 private:
  template <class U, class F>
  friend auto released_as_public(const Released<U>& answer, const F& derive);
  explicit DerivedFact(T value) : value_(std::move(value)) {}
  T value_;
};

/// The narrow door from an answer to a fact: derive(answer's value).
template <class U, class F>
auto released_as_public(const Released<U>& answer, const F& derive) {
  return DerivedFact<decltype(derive(answer.value()))>(derive(answer.value()));
}

}  // namespace sotto
