#include "sotto/data/synthetic_phase.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "sotto/core/check.hpp"
#include "sotto/random/stream.hpp"

namespace sotto {
namespace {

/// Standard normals for made-up data (public, so no hardened sampler is needed).
class Normals {
 public:
  explicit Normals(Stream stream) : stream_(std::move(stream)) {}
  double next() {
    if (std::exchange(has_spare_, false)) return spare_;
    const double radius = std::sqrt(-2 * std::log(stream_.uniform()));
    const double angle = 2 * std::numbers::pi * stream_.uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }
  Vector direction(std::int64_t dim) {
    Vector v(dim);
    for (double& x : v) x = next();
    return v.normalized();
  }

 private:
  Stream stream_;
  bool has_spare_ = false;
  double spare_ = 0;
};

}  // namespace

PhaseRetrievalData make_phase_retrieval(const PhaseRetrievalOptions& options) {
  SOTTO_CHECK(options.rows > 0 && options.dim > 0 && options.label_bound > 0 && options.noise >= 0);
  const double length =
      options.length > 0 ? options.length : std::sqrt(static_cast<double>(options.dim));
  PhaseRetrievalData data;
  data.truth =
      length * Normals(Stream::seeded(options.seed, Purpose::kData, 0)).direction(options.dim);
  Normals normals(Stream::seeded(options.seed, Purpose::kData, 1 + options.part));
  std::vector<float> values, labels;
  values.reserve(static_cast<std::size_t>(options.rows * options.dim));
  for (std::int64_t i = 0; i < options.rows; ++i) {
    const Vector x = normals.direction(options.dim);
    for (const double each : x) values.push_back(static_cast<float>(each));
    const double product = x.dot(data.truth);
    const double label = product * product + options.noise * normals.next();
    labels.push_back(static_cast<float>(std::clamp(label, 0.0, options.label_bound)));
  }
  data.table =
      TableBuilder::dense(options.rows, options.dim, values, std::move(labels), {.row_norm = 1});
  return data;
}

}  // namespace sotto
