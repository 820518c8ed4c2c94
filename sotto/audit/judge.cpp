#include "sotto/audit/judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/check.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/privacy/accountant/gaussian.hpp"

namespace sotto {
namespace {

constexpr int kQuantiles = 60;

std::vector<double> sorted(std::span<const double> scores) {
  std::vector<double> result(scores.begin(), scores.end());
  for (double& score : result)
    if (std::isnan(score)) score = -std::numeric_limits<double>::infinity();
  std::sort(result.begin(), result.end());
  return result;
}

/// Scores above the threshold, of an increasing list.
std::int64_t above(const std::vector<double>& scores, double threshold) {
  return scores.end() - std::upper_bound(scores.begin(), scores.end(), threshold);
}

ErrorCounts count(const std::vector<double>& world0,
                  const std::vector<double>& world1,
                  double threshold) {
  const auto n0 = static_cast<std::int64_t>(world0.size());
  const auto n1 = static_cast<std::int64_t>(world1.size());
  return {above(world0, threshold), n0, n1 - above(world1, threshold), n1};
}

struct Choice {
  double threshold = 0;
  bool by_total_error = true;
  double plain_threshold = 0;
};

/// How clearly error rates refute a curve, in standard deviations: together (a + b), or each.
struct Clarity {
  double total = 0;
  double both = 0;
};

class Chooser {
 public:
  explicit Chooser(const Claim& claim) : claim_(claim) {
    for (int k = 0; k <= kGrid; ++k) {
      const double a = static_cast<double>(k) / kGrid;
      least_total_ = std::min(least_total_, a + claim.halfway(a));
    }
  }

  /// The median of all scores is right for symmetric losses and hardly affected by chance; another
  /// threshold must be clearer by more than luck explains. Choosing needs no proof.
  Choice choose(const std::vector<double>& world0, const std::vector<double>& world1) const {
    constexpr double kLuck = 1.3;
    constexpr double kUnlucky = 0.1;
    // Each of two bounds gets half of alpha: at 95 % it needs 1.96 deviations where one needs 1.64.
    constexpr double kPriceOfTwo = 1.64 / 1.96;
    std::vector<double> all = world0;
    all.insert(all.end(), world1.begin(), world1.end());
    std::sort(all.begin(), all.end());
    Choice best;
    best.threshold = best.plain_threshold = all[(all.size() - 1) / 2];
    double clearest = clarity(count(world0, world1, best.threshold)).total + kLuck;
    double best_plain = -1;
    const auto consider = [&](double threshold) {
      const ErrorCounts counts = count(world0, world1, threshold);
      const auto [total, both] = clarity(counts);
      if (const double better = std::max(total, both * kPriceOfTwo); better > clearest) {
        clearest = better;
        best.threshold = threshold;
        best.by_total_error = total >= both * kPriceOfTwo;
      }
      const double plain = plain_epsilon_bound(bound_errors(counts, kUnlucky), claim_.delta());
      if (plain > best_plain) {
        best_plain = plain;
        best.plain_threshold = threshold;
      }
    };
    const auto last = static_cast<double>(all.size() - 1);
    for (int k = 0; k <= kQuantiles; ++k) {
      // Denser towards both ends, where rare events decide; above and from each score, for ties.
      const double share = 0.5 - 0.5 * std::cos(M_PI * k / kQuantiles);
      const double score = all[static_cast<std::size_t>(std::llround(share * last))];
      consider(score);
      consider(std::nextafter(score, -std::numeric_limits<double>::infinity()));
    }
    return best;
  }

 private:
  Clarity clarity(const ErrorCounts& counts) const {
    const auto rate = [](std::int64_t hits, std::int64_t trials) {
      return (static_cast<double>(hits) + 0.5) / (static_cast<double>(trials) + 1);
    };
    const double a = rate(counts.false_alarms, counts.trials0);
    const double b = rate(counts.misses, counts.trials1);
    const double deviation_a = std::sqrt(a * (1 - a) / static_cast<double>(counts.trials0));
    const double deviation_b = std::sqrt(b * (1 - b) / static_cast<double>(counts.trials1));
    Clarity result;
    result.total = (least_total_ - a - b) / std::hypot(deviation_a, deviation_b);
    double low = 0;
    double high = 100;
    for (int i = 0; i < 20; ++i) {
      const double c = (low + high) / 2;
      const bool refuted = b + c * deviation_b < claim_.halfway(std::min(1.0, a + c * deviation_a));
      (refuted ? low : high) = c;
    }
    result.both = low;
    return result;
  }

  static constexpr int kGrid = 400;
  const Claim& claim_;
  double least_total_ = 1;
};

}  // namespace

void collect(const Trial& trial, std::int64_t runs, Scores& scores) {
  const std::int64_t begin = scores.runs();
  const std::int64_t more = std::max<std::int64_t>(0, runs - begin);
  for (auto& world : scores.world) world.resize(static_cast<std::size_t>(begin + more));
  parallel_for(2 * more, [&](std::int64_t task, int) {
    const int world = static_cast<int>(task % 2);
    const std::int64_t run = begin + task / 2;
    scores.world[world][static_cast<std::size_t>(run)] = trial(world, run);
  });
}

Expected<Judgement> judge(const Scores& scores, const Claim& claim, const JudgeOptions& options) {
  const std::int64_t runs = scores.runs();
  SOTTO_CHECK(runs >= 20 && scores.world[1].size() == scores.world[0].size());
  SOTTO_CHECK(options.confidence > 0 && options.confidence < 1);
  const auto chosen =
      static_cast<std::size_t>(std::ceil(options.choose_share * static_cast<double>(runs)));
  const std::span<const double> world0(scores.world[0]), world1(scores.world[1]);
  const Choice choice =
      Chooser(claim).choose(sorted(world0.first(chosen)), sorted(world1.first(chosen)));

  const auto judged0 = sorted(world0.subspan(chosen));
  const auto judged1 = sorted(world1.subspan(chosen));
  const double alpha = 1 - options.confidence;
  Judgement result;
  result.threshold = choice.threshold;
  result.by_total_error = choice.by_total_error;
  result.counts = count(judged0, judged1, choice.threshold);
  if (choice.by_total_error) {
    SOTTO_ASSIGN(result.lower_bound,
                 claim.largest_refuted(bound_total_error(result.counts, alpha)));
  } else {
    SOTTO_ASSIGN(result.lower_bound, claim.largest_refuted(bound_errors(result.counts, alpha)));
  }
  result.plain_bound = plain_epsilon_bound(
      bound_errors(count(judged0, judged1, choice.plain_threshold), alpha), claim.delta());
  return result;
}

std::int64_t runs_needed(const Claim& claim,
                         const JudgeOptions& options,
                         double factor,
                         double power) {
  const double claimed = gaussian_largest_mu(claim.epsilon(), claim.delta());
  const double real = gaussian_largest_mu(claim.epsilon() * factor, claim.delta());
  const double error = normal_cdf(-real / 2);
  const double gap = normal_cdf(-claimed / 2) - error;
  const double deviations = normal_quantile(options.confidence) + normal_quantile(power);
  const double both_worlds = deviations * deviations * error * (1 - error) / (gap * gap);
  return static_cast<std::int64_t>(std::ceil(both_worlds / 2 / (1 - options.choose_share)));
}

std::vector<RocPoint> roc(const Scores& scores, const Claim& claim, int points) {
  SOTTO_CHECK(scores.runs() > 0 && points >= 2);
  const auto world0 = sorted(scores.world[0]);
  const auto world1 = sorted(scores.world[1]);
  const auto runs = static_cast<double>(scores.runs());
  std::vector<RocPoint> curve;
  for (int k = 0; k < points; ++k) {
    const double share = static_cast<double>(k) / (points - 1);
    const auto rank = static_cast<std::size_t>((1 - share) * (runs - 1));
    const double threshold =
        k + 1 == points ? -std::numeric_limits<double>::infinity() : world0[rank];
    RocPoint point;
    point.false_alarm = static_cast<double>(above(world0, threshold)) / runs;
    point.detected = static_cast<double>(above(world1, threshold)) / runs;
    point.claimed = 1 - claim.trade_off(point.false_alarm);
    curve.push_back(point);
  }
  return curve;
}

}  // namespace sotto
