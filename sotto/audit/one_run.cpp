#include "sotto/audit/one_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "sotto/audit/canary_engine.hpp"
#include "sotto/core/check.hpp"
#include "sotto/oracle/api/sensitivity.hpp"
#include "sotto/oracle/private_oracle.hpp"

namespace sotto {
namespace {

/// Adds up the released gradients less what the known units contribute on average: what is left is
/// noise and canaries.
class Listener final : public Oracle {
 public:
  Listener(Oracle& inner, const Engine& known)
      : inner_(inner), known_(known), heard_(Vector::Zero(known.parameters())) {}

  const PublicProblem& problem() const override { return inner_.problem(); }
  Expected<Released<Vector>> gradient(const GradientQuery& query) override {
    SOTTO_ASSIGN(Released<Vector> answer, inner_.gradient(query));
    known_.clipped_gradients({}, query.at, query.clip_radius, rest_);
    const double noise = query.noise_multiplier * query.clip_radius;
    hear(answer.value(), query.sampling.rate, query.clip_radius, noise);
    return answer;
  }
  /// A canary's gradient is the same at both points: of a pair it moves the gradient alone.
  Expected<Released<Vector>> gradient_pair(const GradientPairQuery& query) override {
    const PairBounds bounds = bounds_of(query, problem());
    SOTTO_ASSIGN(Released<Vector> answer, inner_.gradient_pair(query));
    known_.clipped_gradient_pairs({}, query.at, query.before, bounds.clip, rest_);
    const double moves =
        bounds.clip.together ? bounds.radius : bounds.clip.mixture * bounds.clip.radius;
    hear(answer.value(), query.sampling.rate, moves, query.noise_multiplier * bounds.radius);
    return answer;
  }
  /// Selections are passed on; what they tell is not used.
  Expected<Released<std::int64_t>> select(const SelectionQuery& query) override {
    return inner_.select(query);
  }
  Expected<Released<double>> loss(const LossQuery& query) override { return inner_.loss(query); }
  double gradient_sigma(const GradientQuery& query) const override {
    return inner_.gradient_sigma(query);
  }
  /// Canaries have no Hessian, so that a pair's gradient tells all about them.
  Expected<Released<NoisyGradientHessian>> gradient_and_hessian(const JointQuery& query) override {
    SOTTO_ASSIGN(Released<NoisyGradientHessian> answer, inner_.gradient_and_hessian(query));
    Matrix unused;
    known_.clipped_pairs({}, query.at, query.clip_radius, query.hessian_scale, rest_, unused);
    const double noise = query.noise_multiplier * query.clip_radius;
    hear(answer.value().gradient, query.sampling.rate, query.clip_radius, noise);
    return answer;
  }
  Expected<Released<NoisyHessian>> hessian(const HessianQuery& query) override {
    return inner_.hessian(query);
  }
  Expected<std::unique_ptr<NoisyOperator>> hessian_operator(
      const HessianOperatorQuery& query) override {
    return inner_.hessian_operator(query);
  }
  Expected<Released<std::int64_t>> first_decrease(const DecreaseQuery& query) override {
    return inner_.first_decrease(query);
  }

  const Vector& heard() const { return heard_; }

 private:
  /// Weighs an answer by how much it says: a canary in the batch, with probability `rate`, moves
  /// the sum by `moves`, beside noise of this deviation. rest_ holds what the known units add.
  void hear(const Vector& answer, double rate, double moves, double noise) {
    heard_ += rate * moves / (noise * noise) * (static_cast<double>(problem().n) * answer - rest_);
  }

  Oracle& inner_;
  PerExampleSum known_;
  Vector rest_;
  Vector heard_;
};

/// Remembers whether the run was stopped. After its last step it is too late: what was paid for is
/// told, whatever was asked for in the meantime.
class Watched final : public Observer {
 public:
  explicit Watched(Observer& next) : next_(next) {}
  bool keep_going(const StepReport& report) override {
    stopped_ = !next_.keep_going(report) && report.step < report.steps;
    return !stopped_;
  }
  bool stopped() const { return stopped_; }

 private:
  Observer& next_;
  bool stopped_ = false;
};

}  // namespace

double one_run_p_value(std::int64_t canaries,
                       std::int64_t guesses,
                       std::int64_t correct,
                       double epsilon,
                       double delta) {
  SOTTO_CHECK(0 <= correct && correct <= guesses && guesses <= canaries && epsilon >= 0);
  if (correct == 0 || guesses == 0) return 1;
  const double right = 1 / (1 + std::exp(-epsilon));
  const boost::math::binomial law(static_cast<double>(guesses), right);
  const double tail =
      boost::math::cdf(boost::math::complement(law, static_cast<double>(correct - 1)));
  double steepest = 0;
  double below = 0;
  for (std::int64_t i = 1; i <= correct; ++i) {
    const double mass = boost::math::pdf(law, static_cast<double>(correct - i));
    below += mass;
    steepest = std::max(steepest, below / static_cast<double>(i));
    if (static_cast<double>(i) * steepest > 1) break;  // below never exceeds 1
  }
  return std::min(1.0, tail + 2 * static_cast<double>(canaries) * delta * steepest);
}

double one_run_epsilon_bound(
    std::int64_t canaries, std::int64_t guesses, std::int64_t correct, double delta, double alpha) {
  const auto refuted = [&](double epsilon) {
    return one_run_p_value(canaries, guesses, correct, epsilon, delta) < alpha;
  };
  if (!refuted(0)) return 0;
  double low = 0;
  double high = 1;
  while (high < 64 && refuted(high)) high *= 2;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (refuted(middle) ? low : high) = middle;
  }
  return low;
}

OneRunGuess guess_canaries(std::span<const double> scores,
                           const std::vector<bool>& inserted,
                           double delta,
                           double alpha) {
  SOTTO_CHECK(scores.size() == inserted.size());
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return scores[a] > scores[b];
  });
  const auto m = static_cast<std::int64_t>(scores.size());
  OneRunGuess best;
  for (const std::int64_t share : {1, 2, 4, 8}) {
    const auto side = static_cast<std::size_t>(m / (2 * share));
    OneRunGuess guess;
    guess.guesses = 2 * static_cast<std::int64_t>(side);
    for (std::size_t k = 0; k < side; ++k) {
      guess.correct += inserted[order[k]];
      guess.correct += !inserted[order[order.size() - 1 - k]];
    }
    guess.lower_bound = one_run_epsilon_bound(m, guess.guesses, guess.correct, delta, alpha / 4);
    if (guess.lower_bound > best.lower_bound || best.guesses == 0) best = guess;
  }
  return best;
}

Expected<OneRunReport> audit_in_one_run(const Engine& engine,
                                        PublicProblem problem,
                                        const TrainOptions& train_options,
                                        const OneRunOptions& options,
                                        Observer& observer) {
  if (options.canaries < 10 || options.canaries > 1'000'000)
    return fail(
        ErrorKind::kUsage,
        fmt::format("‘canaries’ must lie between 10 and 1,000,000, but is {}.", options.canaries));
  if (problem.relation != Relation::kZeroOut)
    return fail(ErrorKind::kUsage,
                "the one-run audit inserts canaries or leaves them without effect, so it needs "
                "‘neighbours zero-out’.");
  const auto layered = [](const auto& option) {
    return option.first == "clip_rule" && option.second == "layers";
  };
  if (std::any_of(train_options.options.begin(), train_options.options.end(), layered))
    return fail(ErrorKind::kUsage,
                "the one-run audit knows no canaries for layers that are clipped one by one; use "
                "‘clip_rule flat’, or audit without ‘one_run’.");
  problem.n = problem.n + options.canaries;
  SOTTO_ASSIGN(PreparedRun prepared, prepare(problem, train_options));
  if (!prepared.method->is_private)
    return fail(
        ErrorKind::kUsage,
        fmt::format("{} claims no privacy, so there is nothing to audit.", prepared.method->name));

  // Not the streams of the run itself, which a seed would make equal.
  Stream random = train_options.seed ? Stream::seeded(*train_options.seed, Purpose::kData, 1)
                                     : Stream::secure(Purpose::kData);
  const CanaryEngine with_canaries(engine, options.canaries, random);
  SOTTO_ASSIGN(Ledger ledger, open_run(prepared, problem, train_options));
  const auto stream = [&](Purpose purpose) {
    return train_options.seed ? Stream::seeded(*train_options.seed, purpose)
                              : Stream::secure(purpose);
  };
  PrivateOracle oracle(
      with_canaries, problem, ledger, stream(Purpose::kSampling), stream(Purpose::kNoise));
  Listener listener(oracle, engine);
  Watched watched(observer);
  SOTTO_ASSIGN(OptimizerResult result,
               prepared.configured.optimizer->run(listener, prepared.noise_multiplier, watched));
  SOTTO_TRY(ledger.close(watched.stopped() ? kEndedEarly : kFinished));
  OneRunReport report;
  report.interrupted = watched.stopped();
  if (report.interrupted) return report;
  report.w = std::move(result.w);
  report.epsilon = ledger.price();

  std::vector<double> scores;
  std::vector<bool> inserted;
  for (std::int64_t i = 0; i < options.canaries; ++i) {
    scores.push_back(listener.heard().dot(with_canaries.direction(i)));
    inserted.push_back(with_canaries.inserted(i));
  }
  report.guess = guess_canaries(scores, inserted, train_options.delta, 1 - options.confidence);
  const auto n = static_cast<double>(problem.n);
  report.canary_pull = with_canaries.pull().norm() / n;
  report.canary_share = static_cast<double>(options.canaries) / n;
  return report;
}

}  // namespace sotto
