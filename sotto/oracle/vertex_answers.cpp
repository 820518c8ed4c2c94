// The private oracle's answers about vertices and gaps; proofs: coordinate_sums.proof.md.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/mechanism/coordinate_selection.hpp"
#include "sotto/mechanism/exponential.hpp"
#include "sotto/mechanism/gaussian.hpp"
#include "sotto/mechanism/permute_and_flip.hpp"
#include "sotto/oracle/private_oracle.hpp"

namespace sotto {
namespace {

/// The scores of +e_j and -e_j in turn (or of +e_j alone), as doubles.
Vector score_vector(const CoordinateSums& sums, bool both_signs) {
  const auto parts = sums.parts();
  const auto dimension = static_cast<Eigen::Index>(parts.front().size());
  Vector scores(both_signs ? 2 * dimension : dimension);
  for (Eigen::Index j = 0; j < dimension; ++j) {
    std::int64_t sum = 0;
    for (const auto& part : parts) sum += part[static_cast<std::size_t>(j)];
    const auto score = static_cast<double>(sum);
    if (both_signs) {
      scores[2 * j] = -score;
      scores[2 * j + 1] = score;
    } else {
      scores[j] = -score;
    }
  }
  return scores;
}

Released<std::int64_t> choose(Vector scores,
                              const SensitivityClaim& claim,
                              Receipt receipt,
                              VertexRule rule,
                              double epsilon,
                              Stream& noise) {
  Sensitive<Vector> sealed(std::move(scores), claim);
  return rule == VertexRule::kExponential
             ? ExponentialMechanism::release(
                   std::move(sealed), std::move(receipt), epsilon, ScoreMotion::kAny, noise)
             : PermuteAndFlip::release(
                   std::move(sealed), std::move(receipt), epsilon, ScoreMotion::kAny, noise);
}

/// Every coordinate at most once: its entry is clamped so that the sum with all units' terms is a
/// number of 64 bits, which two entries together need not be.
Expected<void> check_public_part(std::span<const std::pair<std::int64_t, double>> entries,
                                 std::int64_t dimension) {
  std::vector<std::int64_t> coordinates;
  for (const auto& [coordinate, value] : entries) coordinates.push_back(coordinate);
  std::sort(coordinates.begin(), coordinates.end());
  const bool once = std::adjacent_find(coordinates.begin(), coordinates.end()) == coordinates.end();
  if (once && (coordinates.empty() || (coordinates.front() >= 0 && coordinates.back() < dimension)))
    return {};
  return fail(ErrorKind::kUsage,
              "the public part of a choice among vertices names a coordinate twice, or one that "
              "is not there. Nothing was released for it.");
}

}  // namespace

CoordinateSums& PrivateOracle::coordinates() {
  if (!coordinates_) coordinates_ = std::make_unique<CoordinateSums>(engine_);
  return *coordinates_;
}

Expected<Released<Vertex>> PrivateOracle::select_vertex(const VertexQuery& query) {
  const SetKind kind = query.set.kind();
  SOTTO_CHECK(kind == SetKind::kL1Ball || kind == SetKind::kSimplex);
  SOTTO_TRY(check_public_part(query.public_part, problem_.dimension));
  const bool both_signs = kind == SetKind::kL1Ball;
  const double radius = query.set.largest_l1(problem_.dimension);
  const bool by_parts = query.rule == VertexRule::kExponential;
  if (by_parts && (query.epsilon > CoordinateSelection::kMostEpsilon ||
                   problem_.dimension > CoordinateSelection::kMostCoordinates))
    return fail(ErrorKind::kBudget,
                fmt::format("a choice among {} coordinates at epsilon {:.3g} is beyond {} "
                            "coordinates and epsilon {}. Nothing was released for it. Use a "
                            "smaller budget or fewer features.",
                            problem_.dimension,
                            query.epsilon,
                            CoordinateSelection::kMostCoordinates,
                            CoordinateSelection::kMostEpsilon));
  const SensitivityClaim claim = claims_.of(query, !by_parts);
  SOTTO_ASSIGN(Receipt receipt, buy(event_of(query, problem_.relation), 1, claim));
  batches_.draw(Sampling::full());
  CoordinateSums& sums = coordinates();
  sums.compute(query.at, query.clip_max);
  sums.add_public(query.public_part, static_cast<double>(problem_.n), query.clip_max);
  visit(Sampling::full(), 1);

  if (by_parts)
    return CoordinateSelection::release(Sensitive<CoordinateScores>({sums.parts()}, claim),
                                        std::move(receipt),
                                        query.epsilon,
                                        both_signs,
                                        noise_)
        .map([&](const SignedCoordinate& chosen) {
          return Vertex{chosen.coordinate, chosen.negative ? -radius : radius};
        });
  return choose(score_vector(sums, both_signs),
                claim,
                std::move(receipt),
                query.rule,
                query.epsilon,
                noise_)
      .map([&](std::int64_t chosen) {
        if (!both_signs) return Vertex{chosen, radius};
        return Vertex{chosen / 2, chosen % 2 == 1 ? -radius : radius};
      });
}

Expected<Released<std::int64_t>> PrivateOracle::select_listed_vertex(
    const ListedVertexQuery& query) {
  SOTTO_CHECK(query.vertices.cols() == problem_.dimension && query.vertices.rows() > 0);
  SOTTO_CHECK(query.at.size() == problem_.dimension);
  SOTTO_CHECK(!query.public_part || query.public_part->size() == problem_.dimension);
  const SensitivityClaim claim = claims_.of(query);
  SOTTO_ASSIGN(Receipt receipt, buy(event_of(query, problem_.relation), 1, claim));
  batches_.draw(Sampling::full());
  coordinates().compute(query.at, query.clip_max);
  visit(Sampling::full(), 1);
  Vector sum = coordinates().dense(query.clip_max);
  if (query.public_part) sum += static_cast<double>(problem_.n) * *query.public_part;
  return choose(
      -(query.vertices * sum), claim, std::move(receipt), query.rule, query.epsilon, noise_);
}

Expected<Released<NoisyGap>> PrivateOracle::gap(const GapQuery& query) {
  SOTTO_CHECK(query.set.bounded() && query.at.size() == problem_.dimension);
  SOTTO_CHECK(!query.public_part || query.public_part->size() == problem_.dimension);
  const SensitivityClaim claim = claims_.of(query);
  SOTTO_ASSIGN(Receipt receipt, buy(event_of(query, problem_.relation), 1, claim));
  Vector sum;
  if (query.in_max_norm) {
    batches_.draw(Sampling::full());
    coordinates().compute(query.at, query.clip);
    sum = coordinates().dense(query.clip);
  } else {
    sums_.clipped_gradients(batches_.draw(Sampling::full()), query.at, query.clip, sum);
  }
  visit(Sampling::full(), 1);
  const auto n = static_cast<double>(problem_.n);
  if (query.public_part) sum += n * *query.public_part;
  const double deviation = released_sigma(claim, query.noise_multiplier, 1) / n;
  return release_mean(Vector::Constant(1, query.set.gap(query.at, sum)),
                      claim,
                      std::move(receipt),
                      query.noise_multiplier)
      .map([&](const Vector& value) {
        return NoisyGap{value[0], deviation};
      });
}

}  // namespace sotto
