#include "sotto/oracle/exact_oracle.hpp"

#include <limits>
#include <utility>

namespace sotto {

/// See ReleaseKey: the one friend that is not a mechanism.
class ExactRelease {
 public:
  template <class T>
  static Released<T> release(T value, Relation relation) {
    return Released<T>(ReleaseKey{}, std::move(value), Event::non_private(relation));
  }
};

ExactOracle::ExactOracle(const Engine& engine, PublicProblem problem, Stream sampling, bool clips)
    : problem_(std::move(problem)),
      batches_(engine.units(), std::move(sampling)),
      sums_(engine),
      clips_(clips) {}

Expected<Released<Vector>> ExactOracle::gradient(const GradientQuery& query) {
  const double radius = clips_ ? query.clip_radius : std::numeric_limits<double>::infinity();
  Vector sum;
  sums_.clipped_gradients(batches_.draw(query.sampling), query.at, radius, sum);
  const double expected_batch = query.sampling.rate * static_cast<double>(problem_.n);
  gradient_evaluations_ += expected_batch;
  sum /= expected_batch;
  return ExactRelease::release(std::move(sum), problem_.relation);
}

Expected<Released<double>> ExactOracle::loss(const LossQuery& query) {
  const double clip = clips_ ? query.clip : std::numeric_limits<double>::infinity();
  const double sum = sums_.clipped_losses(batches_.draw(query.sampling), query.at, clip);
  return ExactRelease::release(sum / (query.sampling.rate * static_cast<double>(problem_.n)),
                               problem_.relation);
}

}  // namespace sotto
