#pragma once

// Private to the exact oracle.

#include <utility>

#include "sotto/release/released.hpp"

namespace sotto {

/// See ReleaseKey: the one friend that is not a mechanism.
class ExactRelease {
 public:
  template <class T>
  static Released<T> release(T value, Relation relation) {
    return Released<T>(ReleaseKey{}, std::move(value), Event::non_private(relation));
  }
};

}  // namespace sotto
