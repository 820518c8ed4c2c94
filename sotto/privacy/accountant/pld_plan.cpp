#include "sotto/privacy/accountant/pld_plan.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "sotto/privacy/accountant/pld_compose.hpp"
#include "sotto/privacy/accountant/pld_nodes.hpp"

namespace sotto::pld {
namespace {

constexpr double kAccuracy = 1e-4;        // of epsilon, relative
constexpr double kTailMass = 1e-9;        // tilted mass outside a window
constexpr double kInfiniteShare = 1e-8;   // of delta, that may be lost to losses above the range
constexpr double kLargestSize = 1 << 19;  // points of one lattice
constexpr double kMostWork = 1 << 22;     // points of all lattices together, each as often as moved
constexpr double kLongestLattice = 1e15;  // steps of a first lattice; the knots are fewer
constexpr std::size_t kMostKnots = 1 << 18;
constexpr double kMostPanels = 2e5;    // of the quadrature
constexpr double kMinLogDelta = -700;  // delta below 1e-304 is not told apart

class Planner {
 public:
  Planner(const std::vector<CountedLaw>& laws, double log_delta) : laws_(laws) {
    double total = 0;
    for (const CountedLaw& counted : laws) total += static_cast<double>(counted.count);
    for (const CountedLaw& counted : laws) {
      const double log_above =
          std::max(log_delta, kMinLogDelta) + std::log(kInfiniteShare) - std::log(total);
      LossLaw::Range range = counted.law.range(std::log(1e-13) - std::log(total), log_above);
      if (counted.piece == CountedLaw::Piece::kBulk) range.high = counted.cut, range.above = 0;
      if (counted.piece == CountedLaw::Piece::kTail) range.low = counted.cut, range.below = 0;
      ranges_.push_back(range);
      nodes_.push_back(sample(counted, range));
    }
  }

  Cumulants total_at(double t) const {
    Cumulants sum{0, 0, 0};
    for (std::size_t i = 0; i < laws_.size(); ++i) {
      const Cumulants one = nodes_[i].at(t);
      const auto n = static_cast<double>(laws_[i].count);
      sum.value += n * one.value;
      sum.mean += n * one.mean;
      sum.variance += n * one.variance;
    }
    return sum;
  }

  double log_delta_at(double t) const {
    const Cumulants k = total_at(t);
    return k.value - t * k.mean + log_saddle_factor(t, k.variance);
  }

  // The smallest t > 0 at which the decreasing `excess` is not positive.
  template <class F>
  static double solve_tilt(const F& excess) {
    double low = std::log(1e-6);
    double high = std::log(1e12);
    if (excess(std::exp(low)) <= 0) return std::exp(low);
    for (int i = 0; i < 45 && high - low > 1e-4; ++i) {
      const double middle = (low + high) / 2;
      (excess(std::exp(middle)) > 0 ? low : high) = middle;
    }
    return std::exp((low + high) / 2);
  }

  // Where the Chernoff bound of delta(epsilon), E e^{tL} max_x e^{-tx} (1 - e^{epsilon - x}), is
  // least.
  double tilt_for(double epsilon) const {
    // An epsilon near or above the largest loss asks for no finite tilt; beyond this one a lattice
    // that follows e^{tL} would be too long.
    constexpr double kLargestExponent = 1e4;
    double width = 0;
    for (const Nodes& nodes : nodes_)
      width = std::max(width, nodes.loss.maxCoeff() - nodes.loss.minCoeff());
    const double tilt =
        solve_tilt([&](double t) { return epsilon + std::log1p(1 / t) - total_at(t).mean; });
    return std::min(tilt, kLargestExponent / width);
  }

  // See cut_tails. Each rare loss comes with one copy too many of the bulk, raised by the mass
  // above the cut: that is what the cut costs.
  std::vector<CountedLaw> cut(const Plan& plan) {
    constexpr double kRare = 64;
    tilt_ = plan.tilt;
    std::vector<CountedLaw> result;
    for (std::size_t i = 0; i < laws_.size(); ++i) {
      const CountedLaw& whole = laws_[i];
      const double n = static_cast<double>(whole.count);
      const LossLaw::Range& range = ranges_[i];
      result.push_back(whole);
      const std::vector<LossLaw::Atom>& atoms = whole.law.atoms();
      const bool atoms_above = !atoms.empty() && atoms.back().loss > 0;
      if (whole.count < 64 || atoms_above || range.above == 0) continue;
      const Nodes& nodes = nodes_[i];
      const double scale = nodes.at(tilt_).value;
      const Eigen::Index size = nodes.cells;
      double tilted = 0;
      double plain = 0;
      Eigen::Index at = size;
      while (at > size / 2) {
        const Eigen::Index k = at - 1;
        tilted += std::exp(nodes.log_weight[k] + tilt_ * nodes.loss[k] - scale);
        plain += std::exp(nodes.log_weight[k]);
        const double cost = n * tilted * (plain + scale / tilt_);
        if (n * tilted > kRare || cost > 0.25 * kAccuracy * plan.epsilon) break;
        at = k;
      }
      if (at == size || nodes.loss[at] <= 0) continue;
      const double width_of_node = (range.high - range.low) / static_cast<double>(size);
      const double where = range.low + static_cast<double>(at) * width_of_node;
      result.back().piece = CountedLaw::Piece::kBulk;
      result.back().cut = where;
      result.push_back({whole.law.without_atoms(), whole.count, CountedLaw::Piece::kTail, where});
    }
    return result;
  }

  Plan plan(double tilt, double epsilon, double log_delta) {
    tilt_ = tilt;
    const Cumulants total = total_at(tilt);
    const double deviation = std::sqrt(total.variance);
    Plan result{tilt, epsilon, log_delta, 0, {}, {}, 0};
    result.window = window([&](double s) { return total_at(tilt + s).value - total.value; },
                           total.mean,
                           total.variance,
                           kTailMass);
    // Beyond epsilon only the part that e^{-t loss} has not yet damped matters, below it nothing
    // does.
    result.window.low = std::min(result.window.low, epsilon - deviation);
    result.window.high = std::max(result.window.high, epsilon + deviation);
    double error = kAccuracy * std::max(epsilon, std::min(0.02, deviation));
    const Plan blank = result;
    choose_levels(result, error);
    // Coarser where many kinds, or large lattices, would take seconds.
    for (int i = 0; i < 32 && result.is_feasible && transform_points(laws_, result) > kMostWork;
         ++i) {
      result = blank;
      choose_levels(result, error *= 2);
    }
    for (std::size_t i = 0; i < laws_.size() && result.is_feasible; ++i)
      result.is_feasible = choose_knots(i, result.laws[i]);
    return result;
  }

 private:
  // Chernoff: the tilted loss is above (log_mgf(s) + log(1 / mass)) / s with probability <= mass.
  template <class F>
  static Window window(const F& log_mgf, double mean, double variance, double mass) {
    const double margin = -std::log(mass / 2);
    const double start = std::sqrt(2 * margin / std::max(variance, 1e-300));
    Window best{-std::numeric_limits<double>::infinity(),
                std::numeric_limits<double>::infinity(),
                mean,
                -start,
                start};
    for (double s = 2 * start; s > start / 300; s /= 1.6) {
      const double high = (log_mgf(s) + margin) / s;
      if (high > best.high) break;
      best.high = high;
      best.exponent_high = s;
    }
    for (double s = 4 * start; s > start / 50; s /= 1.6) {
      const double low = -(log_mgf(-s) + margin) / s;
      if (low < best.low) break;
      best.low = low;
      best.exponent_low = -s;
    }
    const double deviation = std::sqrt(variance);
    best.low = std::min(best.low, mean - deviation);
    best.high = std::max(best.high, mean + deviation);
    best.mean = mean;
    return best;
  }

  // With `step`, allows for the noise that a lattice of this step adds to each copy.
  Window law_window(std::size_t i, std::int64_t count, double step = 0) const {
    const auto n = static_cast<double>(count);
    const Cumulants one = nodes_[i].at(tilt_);
    const double noise = std::min(step * step / 6, step * std::sqrt(one.variance));
    const auto log_mgf = [&](double s) {
      const double spread = step > 0 ? noise / (step * step) * (std::cosh(s * step) - 1) : 0;
      return n * (nodes_[i].at(tilt_ + s).value - one.value + spread);
    };
    return window(log_mgf,
                  n * one.mean,
                  n * (one.variance + noise),
                  kTailMass * n / static_cast<double>(laws_[i].count));
  }

  double width(std::size_t i, std::int64_t count) {
    const auto key = std::make_pair(i, count);
    if (const auto found = widths_.find(key); found != widths_.end()) return found->second;
    const Window w = law_window(i, count);
    return widths_[key] = w.high - w.low;
  }

  // Connect-the-dots at step h raises epsilon by (t + 1) h^2 / 12 a composition while (t + 1) h <
  // 1, and by less than h always; the latter is for losses so large that nothing finer is needed.
  double step_for(double error, double compositions, double length) const {
    const double each = error / compositions;
    const double fine = std::min(std::sqrt(12 * each / (tilt_ + 1)), 1 / (tilt_ + 1));
    if (length / fine < 1 << 17) return fine;
    return std::max(fine, std::min(each, length / (1 << 11)));
  }

  // A divisor of n near m if there is one: then nothing is left over.
  static std::int64_t near_divisor(std::int64_t n, std::int64_t m) {
    for (std::int64_t d = 0; d <= std::min<std::int64_t>(m / 3, 1000); ++d) {
      if (n % (m + d) == 0) return m + d;
      if (m - d > 1 && n % (m - d) == 0) return m - d;
    }
    return m;
  }

  bool is_tail(std::size_t i) const { return laws_[i].piece == CountedLaw::Piece::kTail; }

  // The tilted probability that one copy of a tail is not 0.
  double rare_mass(std::size_t i) const { return -std::expm1(-nodes_[i].at(tilt_).value); }

  struct Inner {
    double cost = 0;
    std::vector<Level> levels;
  };

  // How to compose `block` copies of law i before the last lattice, at the least cost.
  Inner inner_levels(std::size_t i, std::int64_t block, double error) {
    if (block <= 1) return {};
    const auto n = static_cast<double>(laws_[i].count);
    const auto size = [&](std::int64_t count, double step) {
      return std::max(64.0, width(i, count) / step);
    };
    const double h = step_for(error, n, width(i, block));
    Inner best{size(block, h), {{block, h, {}}}};
    for (std::int64_t about = 16; about <= block / 4; about *= 4) {
      const std::int64_t first = near_divisor(block, about);
      const double h1 = step_for(error / 2, n, width(i, first));
      const double h2 = step_for(error / 2, n / static_cast<double>(first), width(i, block));
      const double cost = size(first, h1) + size(block, h2);
      if (cost < 0.8 * best.cost) best = {cost, {{first, h1, {}}, {block / first, h2, {}}}};
    }
    return best;
  }

  void choose_levels(Plan& result, double error) {
    const double length = result.window.high - result.window.low;
    std::int64_t most = 0;
    double all = 0;
    for (const CountedLaw& counted : laws_) {
      most = std::max(most, counted.count);
      all += static_cast<double>(counted.count);
    }
    double step = step_for(error, all, length);
    // Atoms alone fit a lattice exactly.
    const std::vector<LossLaw::Atom>& atoms = laws_.front().law.atoms();
    const bool only_atoms = laws_.size() == 1 && !laws_.front().law.has_density();
    const double apart = only_atoms ? (atoms.back().loss - atoms.front().loss) /
                                          static_cast<double>(atoms.size() - 1)
                                    : 0;
    const bool exact = only_atoms && length / apart < 1 << 16;
    if (exact) step = apart;
    double best = exact ? 0 : length / step;
    std::vector<Inner> inner(laws_.size());
    std::vector<std::int64_t> blocks(laws_.size(), 1);
    const double share = error / 2;
    for (std::int64_t last = 16; last <= most / 4; last *= 4) {
      std::vector<Inner> trial;
      std::vector<std::int64_t> trial_blocks;
      double cost = 0;
      double compositions = 0;
      for (std::size_t i = 0; i < laws_.size(); ++i) {
        const std::int64_t n = laws_[i].count;
        if (is_tail(i)) {
          trial.emplace_back();
          trial_blocks.push_back(1);
          compositions += static_cast<double>(n) * rare_mass(i);
          continue;
        }
        const std::int64_t block = n >= 4 * last ? near_divisor(n, n / last) : 1;
        trial.push_back(inner_levels(i, block, share / static_cast<double>(laws_.size())));
        trial_blocks.push_back(block);
        cost += trial.back().cost;
        compositions += static_cast<double>(n / block + (n % block != 0));
      }
      const double last_step = step_for(share, compositions, length);
      cost += length / last_step;
      if (cost < 0.8 * best) {
        best = cost;
        step = last_step;
        inner = std::move(trial);
        blocks = std::move(trial_blocks);
      }
    }
    step = std::max(step, length / kLargestSize);
    result.size = length / step;
    for (std::size_t i = 0; i < laws_.size(); ++i)
      for (const Level& level : inner[i].levels)
        result.size = std::max(result.size, width(i, blocks[i]) / level.step);
    align(result, step, inner, blocks);
  }

  // Makes each lattice a sublattice of the one before it; the atoms of the first law that has some
  // become lattice points.
  void align(Plan& result,
             double step,
             const std::vector<Inner>& inner,
             const std::vector<std::int64_t>& blocks) {
    result.laws.resize(laws_.size());
    std::vector<std::vector<double>> ratios(laws_.size());
    for (std::size_t i = 0; i < laws_.size(); ++i) {
      LawPlan& law = result.laws[i];
      law.levels = inner[i].levels;
      for (Level& level : law.levels) {
        const double length = width(i, &level == &law.levels.back() ? blocks[i] : level.count);
        level.step = std::max(level.step, length / kLargestSize);
      }
      for (std::size_t k = 0; k < law.levels.size(); ++k) {
        const double next = k + 1 < law.levels.size() ? law.levels[k + 1].step : step;
        ratios[i].push_back(std::max(1.0, std::round(next / law.levels[k].step)));
        result.is_feasible &= ratios[i].back() <= kLargestSize;
      }
    }
    for (std::size_t i = 0; i < laws_.size(); ++i) {
      const std::vector<LossLaw::Atom>& atoms = laws_[i].law.atoms();
      if (atoms.empty()) continue;
      double ratio = 1;
      for (const double r : ratios[i]) ratio *= r;
      const double span = atoms.back().loss - atoms.front().loss;
      const double cells = span * ratio / step * (1 - 1e-9);
      if (cells <= 0.1) continue;  // all at one loss, or too close for this lattice
      step = span / std::ceil(cells) * ratio;
      break;
    }
    result.last_step = step;
    result.is_feasible &= step > 0 && std::isfinite(step) && std::isfinite(result.window.low) &&
                          std::isfinite(result.window.high);
    if (!result.is_feasible) return;
    for (std::size_t i = 0; i < laws_.size(); ++i) {
      LawPlan& law = result.laws[i];
      law.first_step = step;
      std::int64_t composed = blocks[i];
      for (std::size_t k = law.levels.size(); k-- > 0;) {
        law.first_step /= ratios[i][k];
        law.levels[k].step = law.first_step;
        law.levels[k].window = law_window(i, composed, law.first_step);
        if (k > 0) composed = law.levels[0].count;
      }
    }
  }

  // Raises the lower end as far as the tilt makes losses below it irrelevant.
  void narrow(std::size_t i, LawPlan& plan) const {
    if (plan.range.below == 0) return;
    const double log_above = std::log(2 * plan.range.above);
    const double aim = std::log(1e-8 / static_cast<double>(laws_[i].count));
    for (double x = 0; - x * x / 2 > std::log(2 * plan.range.below); x += 0.125) {
      const LossLaw::Range trial = laws_[i].law.range(-x * x / 2, log_above);
      const double loss = laws_[i].law.loss(trial.low);
      if (-x * x / 2 + tilt_ * loss - plan.log_scale > aim) continue;
      plan.range.low = trial.low;
      plan.range.below = trial.below;
      return;
    }
  }

  // The knots lie closer where the tilted law has its mass: with p the mass beyond a cell, its
  // width is at most step / (2 p^{3/8}), which raises the law's variance by less than twice what
  // equal widths do.
  // False if that would take too many.
  bool choose_knots(std::size_t i, LawPlan& plan) const {
    const LossLaw& law = laws_[i].law;
    const Cumulants one = nodes_[i].at(tilt_);
    plan.range = ranges_[i];
    plan.log_scale = one.value;
    narrow(i, plan);
    const Nodes& nodes = nodes_[i];
    std::vector<std::pair<double, double>> tail;  // loss, tilted mass
    for (Eigen::Index k = 0; k < nodes.loss.size(); ++k)
      tail.emplace_back(nodes.loss[k],
                        std::exp(nodes.log_weight[k] + tilt_ * nodes.loss[k] - one.value));
    std::sort(tail.begin(), tail.end());
    double sum = 0;
    const double unit = is_tail(i) ? rare_mass(i) : 1;
    for (auto& [loss, mass] : tail) mass = sum += mass / unit;  // now cumulative

    const double step = plan.first_step;
    plan.origin = is_tail(i)            ? 0
                  : law.atoms().empty() ? nodes.barycentre(step)
                                        : law.atoms().front().loss;
    double low_loss = law.has_density() ? law.loss(plan.range.low) : law.atoms().front().loss;
    double high_loss = law.has_density() ? law.loss(plan.range.high) : law.atoms().back().loss;
    if (!law.atoms().empty()) {
      low_loss = std::min(low_loss, law.atoms().front().loss);
      high_loss = std::max(high_loss, law.atoms().back().loss);
    }
    low_loss -= plan.origin;
    high_loss -= plan.origin;
    const double panels = law.has_density()
                              ? (plan.range.high - plan.range.low) *
                                    law.roughness(std::max(-plan.range.low, plan.range.high))
                              : 0;
    if (!(std::max(std::abs(low_loss), std::abs(high_loss)) < kLongestLattice * step)) return false;
    if (!(panels < kMostPanels)) return false;
    // One knot more at the lower end, for origins up to a step higher.
    const auto first =
        static_cast<std::int64_t>(std::floor(low_loss / step * (1 + 1e-12) - 1e-3)) - 1;
    const auto last = static_cast<std::int64_t>(std::ceil(high_loss / step * (1 + 1e-12) + 1e-3));
    std::size_t at = 0;
    const auto beyond = [&](std::size_t k, double loss) {
      const double below = k == 0 ? 0 : tail[k - 1].second;
      const double including = k < tail.size() ? tail[k].second : sum;
      return loss > one.mean ? sum - below : including;
    };
    const double negligible = 1e-10 / static_cast<double>(laws_[i].count);
    // Below this loss the tilt leaves less than that, even of all of the law's mass. (Laws with
    // falling tails have few knots there anyway.)
    const double irrelevant = plan.range.above > 0 ? -std::numeric_limits<double>::infinity()
                                                   : (one.value + std::log(negligible)) / tilt_;
    constexpr double kLargestCell = 50;  // products of its exponential stay doubles
    const double widest = std::max(1.0, 0.5 / ((tilt_ + 1) * step));
    for (std::int64_t j = first; j < last;) {
      if (plan.knots.size() > kMostKnots) return false;
      plan.knots.push_back(j);
      const double loss = plan.origin + static_cast<double>(j) * step;
      while (at < tail.size() && tail[at].first < loss) ++at;
      std::int64_t spacing = 1;
      std::size_t end = at;
      while (j % (2 * spacing) == 0 && j + 2 * spacing <= last) {
        const double wide = static_cast<double>(2 * spacing);
        const double far = loss + wide * step;
        if (far < irrelevant && tilt_ * wide * step < kLargestCell) {
          spacing *= 2;
          continue;
        }
        if (wide > widest) break;
        while (end < tail.size() && tail[end].first < far) ++end;
        if ((loss > one.mean) != (far > one.mean)) break;
        const double near_mass = beyond(at, loss);
        const double far_mass = beyond(end, far);
        const double mass = std::max({near_mass, far_mass, 1e-30});
        if (wide * std::pow(mass, 0.375) > 0.5) break;
        // Contraction loses where the law falls steeply within a cell.
        if (mass > negligible && 4 * std::min(near_mass, far_mass) < mass) break;
        spacing *= 2;
      }
      j += spacing;
    }
    plan.knots.push_back(last);
    return true;
  }

  const std::vector<CountedLaw>& laws_;
  std::vector<LossLaw::Range> ranges_;
  std::vector<Nodes> nodes_;
  double tilt_ = 0;
  std::map<std::pair<std::size_t, std::int64_t>, double> widths_;
};

}  // namespace

Plan plan_for_delta(const std::vector<CountedLaw>& laws, double delta) {
  Planner planner(laws, std::log(delta));
  const double saddle =
      Planner::solve_tilt([&](double t) { return planner.log_delta_at(t) - std::log(delta); });
  const double epsilon = std::max(0.0, planner.total_at(saddle).mean);
  return planner.plan(planner.tilt_for(epsilon), epsilon, std::log(delta));
}

std::vector<CountedLaw> cut_tails(const std::vector<CountedLaw>& laws, const Plan& plan) {
  return Planner(laws, plan.log_delta).cut(plan);
}

Plan plan_near(const std::vector<CountedLaw>& laws, double delta, double epsilon) {
  Planner planner(laws, std::log(delta));
  return planner.plan(planner.tilt_for(epsilon), epsilon, std::log(delta));
}

Plan plan_for_epsilon(const std::vector<CountedLaw>& laws, double epsilon) {
  const Planner wide(laws, kMinLogDelta);
  const double log_delta = std::clamp(wide.log_delta_at(wide.tilt_for(epsilon)), kMinLogDelta, 0.0);
  Planner planner(laws, log_delta);
  return planner.plan(planner.tilt_for(epsilon), epsilon, log_delta);
}

}  // namespace sotto::pld
