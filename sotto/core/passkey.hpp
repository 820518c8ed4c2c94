#pragma once

namespace sotto {

/// Lets a function be called by T alone: only T can make a Passkey<T>.
/// The constructor is written out because a defaulted one would make the class an aggregate that
/// anybody can brace-construct.
template <class T>
class Passkey {
  friend T;
  Passkey() {}  // NOLINT(modernize-use-equals-default)
};

}  // namespace sotto
