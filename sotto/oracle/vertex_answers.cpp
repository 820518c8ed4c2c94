// The private oracle's answers about vertices and gaps; proofs: coordinate_sums.proof.md.

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

constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;

/// How far one unit moves a sum of terms of size 1.
double motion(Relation relation) { return relation == Relation::kReplaceOne ? 2 : 1; }

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

}  // namespace

CoordinateSums& PrivateOracle::coordinates() {
  if (!coordinates_) coordinates_ = std::make_unique<CoordinateSums>(engine_);
  return *coordinates_;
}

Expected<Released<Vertex>> PrivateOracle::select_vertex(const VertexQuery& query) {
  const SetKind kind = query.set.kind();
  SOTTO_CHECK(kind == SetKind::kL1Ball || kind == SetKind::kSimplex);
  const bool both_signs = kind == SetKind::kL1Ball;
  const double radius = query.set.largest_l1(problem_.dimension);
  SOTTO_ASSIGN(Receipt receipt, ledger_.charge(event_of(query, problem_.relation), 1));
  batches_.draw(Sampling::full());
  CoordinateSums& sums = coordinates();
  sums.compute(query.at, query.clip_max);
  sums.add_public(query.public_part, static_cast<double>(problem_.n), query.clip_max);
  visit(Sampling::full(), 1);

  SensitivityClaim claim{motion(problem_.relation) * static_cast<double>(CoordinateSums::kSteps),
                         problem_.relation,
                         Sampling::full()};
  if (query.rule == VertexRule::kExponential)
    return CoordinateSelection::release(Sensitive<CoordinateScores>({sums.parts()}, claim),
                                        std::move(receipt),
                                        query.epsilon,
                                        both_signs,
                                        noise_)
        .map([&](const SignedCoordinate& chosen) {
          return Vertex{chosen.coordinate, chosen.negative ? -radius : radius};
        });
  // A sum of up to 2^63 as a double is off by at most 2^10, in both worlds.
  claim.sensitivity += 0x1p11;
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
  SOTTO_ASSIGN(Receipt receipt, ledger_.charge(event_of(query, problem_.relation), 1));
  batches_.draw(Sampling::full());
  coordinates().compute(query.at, query.clip_max);
  visit(Sampling::full(), 1);
  Vector sum = coordinates().dense(query.clip_max);
  const auto n = static_cast<double>(problem_.n);
  double size = static_cast<double>(most_units()) * query.clip_max;  // of a coordinate's sum
  if (query.public_part) {
    sum += n * *query.public_part;
    size += n * query.public_part->lpNorm<Eigen::Infinity>();
  }
  const double longest = query.vertices.cwiseAbs().rowwise().sum().maxCoeff();
  const double rounding =
      2 * (static_cast<double>(problem_.dimension) + 8) * kUnit * longest * size;
  const SensitivityClaim claim{
      motion(problem_.relation) * query.clip_max * longest * (1 + 1e-12) + 2 * rounding,
      problem_.relation,
      Sampling::full()};
  return choose(
      -(query.vertices * sum), claim, std::move(receipt), query.rule, query.epsilon, noise_);
}

Expected<Released<NoisyGap>> PrivateOracle::gap(const GapQuery& query) {
  SOTTO_CHECK(query.set.bounded());
  SOTTO_ASSIGN(Receipt receipt, ledger_.charge(event_of(query, problem_.relation), 1));
  Vector sum;
  double reach = 0;  // largest distance from `at` to a point of the set, in the dual norm
  double rounding = 0;
  if (query.in_max_norm) {
    batches_.draw(Sampling::full());
    coordinates().compute(query.at, query.clip);
    sum = coordinates().dense(query.clip);
    reach = query.at.lpNorm<1>() + query.set.largest_l1(problem_.dimension);
  } else {
    sums_.clipped_gradients(batches_.draw(Sampling::full()), query.at, query.clip, sum);
    Vector nearest = query.at;
    query.set.project(nearest);
    reach = query.set.diameter(problem_.dimension) + (query.at - nearest).norm();
    rounding = reach * sums_.rounding_error(most_units(), query.clip);
  }
  visit(Sampling::full(), 1);
  const auto n = static_cast<double>(problem_.n);
  double size = static_cast<double>(most_units()) * query.clip;
  if (query.public_part) {
    sum += n * *query.public_part;
    size += n * query.public_part->norm();
  }
  rounding += 4 * (static_cast<double>(problem_.dimension) + 8) * kUnit *
              (reach + 2 * query.at.norm() + query.set.largest_l1(problem_.dimension)) * size;
  const SensitivityClaim claim{
      motion(problem_.relation) * query.clip * reach * (1 + 1e-9) + 2 * rounding,
      problem_.relation,
      Sampling::full()};
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
