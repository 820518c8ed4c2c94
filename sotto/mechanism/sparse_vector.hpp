#pragma once

#include <cstdint>

#include "sotto/privacy/receipt.hpp"
#include "sotto/random/stream.hpp"
#include "sotto/release/released.hpp"
#include "sotto/release/sensitive.hpp"

namespace sotto {

/// AboveThreshold: answers "is this number above the threshold?" about one number after the other,
/// until the first yes, for epsilon in all [DR14, Alg. 1]: sparse_vector.proof.md.
///
/// With L = sensitivity / epsilon, the threshold gets Laplace noise of scale 2 L once, every number
/// fresh Laplace noise of scale 4 L. The event is sparse_vector(epsilon), paid when the session
/// opens; answers carry the same event and cost nothing more. The receipt's samples limit the
/// questions: one sample is the threshold's, each question takes one.
class SparseVectorSession {
 public:
  /// epsilon >= 2^-20. The claim is of every query: full batch, its sensitivity > 0. `noise` must
  /// outlive the session.
  SparseVectorSession(Receipt receipt,
                      double epsilon,
                      const SensitivityClaim& claim,
                      double threshold,
                      Stream& noise);

  /// The query's claim must be full-batch, under the session's relation and of at most its
  /// sensitivity; and no answer may have been yes.
  Released<bool> is_above(Sensitive<double> query);

  bool open() const { return open_; }
  std::int64_t questions_left() const { return open_ ? questions_left_ : 0; }

 private:
  Event event_;
  double sensitivity_;
  Relation relation_;
  Stream& noise_;
  double unit_;
  std::int64_t noisy_threshold_;  // in grid steps; secret
  std::int64_t questions_left_;
  bool open_ = true;
};

}  // namespace sotto
