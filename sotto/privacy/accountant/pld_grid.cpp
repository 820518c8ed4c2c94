#include "sotto/privacy/accountant/pld_grid.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>

#include "sotto/core/check.hpp"

namespace sotto::pld {
namespace {

constexpr double kRoundOff = std::numeric_limits<double>::epsilon();
// Relative error of one mass: 2e3 ulp for the densities' exponents, the quadrature rule and the
// sums. The mean of a wide law is known to an ulp of itself only, which counts for up to forty
// deviations.
double mass_error(const LossLaw& law) { return 4e-13 + 2e-14 * law.scale(); }

struct Rule {
  std::span<const double> nodes, weights;  // on [-1, 1], the positive half
};

// Gauss-Legendre rules of 4, 6 and 16 points.
constexpr std::array kNodes4{0.33998104358485626, 0.86113631159405258};
constexpr std::array kWeights4{0.65214515486254614, 0.34785484513745386};
constexpr std::array kNodes6{0.23861918608319691, 0.66120938646626451, 0.93246951420315203};
constexpr std::array kWeights6{0.46791393457269105, 0.36076157304813861, 0.17132449237917034};
constexpr std::array kNodes16{0.09501250983763744,
                              0.28160355077925891,
                              0.45801677765722739,
                              0.61787624440264375,
                              0.75540440835500303,
                              0.86563120238783174,
                              0.94457502307323258,
                              0.98940093499164993};
constexpr std::array kWeights16{0.18945061045506850,
                                0.18260341504492359,
                                0.16915651939500254,
                                0.14959598881657673,
                                0.12462897125553387,
                                0.09515851168249278,
                                0.06225352393864789,
                                0.02715245941175409};

// The error of the m-point rule is of relative order (roughness * half-width)^{2m} / (2m)!.
Rule rule_for(double rough_half_width) {
  if (rough_half_width < 0.02) return {kNodes4, kWeights4};
  if (rough_half_width < 0.2) return {kNodes6, kWeights6};
  return {kNodes16, kWeights16};
}

// 1 - e^{-x} for x >= 0.
double decay(double x) { return -std::expm1(-x); }

// The mass of one cell, sent to its two ends so that P- and Q-mass stay: tilted for the lower end.
struct Split {
  double to_low = 0;
  double to_high = 0;
};

// Distributes the law's density between the coordinates b_low and b_high, whose losses lie in the
// cell [low, low + width].
class CellIntegrator {
 public:
  CellIntegrator(const LossLaw& law, double tilt, double log_scale, double origin, Bound bound)
      : law_(law),
        tilt_(tilt),
        log_scale_(log_scale),
        origin_(std::abs(origin)),
        nudge_((bound == Bound::kUpper ? 8 : -8) * kRoundOff) {}

  void add(Split& split, double low, double width, double b_low, double b_high) const {
    if (law_.has_kink() && b_low < 0 && b_high > 0) {
      add(split, low, width, b_low, 0);
      add(split, low, width, 0, b_high);
      return;
    }
    const double whole = decay(width);
    const double shift = tilt_ * low - log_scale_;
    while (b_low < b_high) {
      // The weights don't change any more far above the lower knot.
      const bool far = law_.loss(b_low) - low > 40;
      const double reach = 1 / std::max(law_.roughness(b_low, far), law_.roughness(b_high, far));
      const double end = b_high - b_low <= reach ? b_high : b_low + reach;
      const double middle = (b_low + end) / 2;
      const double half = (end - b_low) / 2;
      const Rule rule = rule_for(half / reach);
      for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
        for (const double sign : {-1.0, 1.0}) {
          const double b = middle + sign * half * rule.nodes[i];
          const double loss = law_.loss(b);
          const double p = std::exp(law_.log_density(b, loss) + shift) * rule.weights[i] * half;
          add_point(split, p, loss, low, width, whole);
        }
      }
      if (end == b_high) break;
      b_low = end;
    }
  }

  void add_point(
      Split& split, double p, double loss, double low, double width, double whole) const {
    // The loss is known to a few ulp; the error is paid in the bound's direction.
    const double offset = std::clamp(loss - low + nudge_ * (std::abs(loss) + origin_), 0.0, width);
    const double high = offset < 1e-5 && width < 1e-5
                            ? offset * (1 - offset / 2 * (1 - offset / 3)) / whole
                            : decay(offset) / whole;
    split.to_low += p * (1 - high);
    split.to_high += p * high;
  }

 private:
  const LossLaw& law_;
  double tilt_, log_scale_, origin_, nudge_;
};

// A negative mass at the top would make delta negative below it. Delta is set to 0 at the highest
// knot where it was positive, and the convex envelope is restored from there down. `stack` holds
// the knots in use.
void anchor_top(std::vector<double>& mass,
                const std::vector<std::int64_t>& index,
                double step,
                double tilt,
                std::vector<std::size_t>& stack) {
  if (stack.empty() || mass[stack.back()] >= 0) return;
  const auto distance = [&](std::size_t i, std::size_t j) {
    return static_cast<double>(index[j] - index[i]) * step;
  };
  // Delta at the knots, tilted, as in DeltaCurve.
  std::vector<double> stick(stack.size(), 0.0);
  double weight = mass[stack.back()];
  for (std::size_t k = stack.size() - 1; k-- > 0;) {
    const double d = distance(stack[k], stack[k + 1]);
    stick[k] = std::exp(-tilt * d) * (stick[k + 1] + decay(d) * weight);
    weight = mass[stack[k]] + std::exp(-(tilt + 1) * d) * weight;
  }
  const auto drop = [&] {
    mass[stack.back()] = 0;
    stack.pop_back();
  };
  while (!stack.empty() && stick[stack.size() - 1] <= 0) drop();
  // A unit of mass at knot j, seen from knot i.
  const auto seen = [&](std::size_t i, std::size_t j) {
    return std::exp(-tilt * distance(i, j)) * decay(distance(i, j));
  };
  if (stack.empty()) return;
  const std::size_t top = stack.back();
  stack.pop_back();
  while (stack.size() >= 2) {
    const std::size_t k = stack.back();
    const std::size_t below = stack[stack.size() - 2];
    mass[top] = stick[stack.size() - 1] / seen(k, top);
    mass[k] = (stick[stack.size() - 2] - mass[top] * seen(below, top)) / seen(below, k);
    if (mass[k] >= 0) {
      stack.push_back(top);
      return;
    }
    drop();
  }
  std::fill(mass.begin(), mass.end(), 0.0);
  stack.clear();
}

// Makes a signed measure with the right delta at every knot non-negative, by the lower convex
// envelope: negative mass goes to the knots around it (pld.proof.md, lemma 5).
void make_convex(std::vector<double>& mass,
                 const std::vector<std::int64_t>& index,
                 double step,
                 double tilt) {
  const auto distance = [&](std::size_t i, std::size_t j) {
    return static_cast<double>(index[j] - index[i]) * step;
  };
  std::vector<std::size_t> stack;
  for (std::size_t j = 0; j < mass.size(); ++j) {
    while (stack.size() >= 2 && mass[stack.back()] < 0) {
      const std::size_t k = stack.back();
      stack.pop_back();
      const std::size_t i = stack.back();
      const double up = decay(distance(i, k)) / decay(distance(i, j));
      mass[i] += mass[k] * (1 - up) * std::exp(-tilt * distance(i, k));
      mass[j] += mass[k] * up * std::exp(tilt * distance(k, j));
      mass[k] = 0;
    }
    stack.push_back(j);
  }
  anchor_top(mass, index, step, tilt, stack);
  // A negative bottom: the same mass is taken from the knot above it, which only lowers losses.
  std::size_t bottom = 0;
  for (; bottom + 1 < stack.size() && mass[stack[bottom]] < 0; ++bottom) {
    const std::size_t i = stack[bottom];
    const std::size_t j = stack[bottom + 1];
    mass[j] += mass[i] * std::exp(tilt * distance(i, j));
    mass[i] = 0;
  }
  // Nothing can be contracted onto so few knots: the trivial bound remains.
  for (const double m : mass)
    if (!(m >= 0)) return std::fill(mass.begin(), mass.end(), 0.0);
}

// A line above the gap between the chord of a cell and the true potential, by its height at the
// cell's two knots; over e^{-loss} and tilted for the lower knot.
struct Lift {
  double low = 0;
  double high = 0;
};

// The contraction: upper masses, lowered potentials. `bottom` and `top` are what the first and the
// last cell send to the ends.
void contract(
    Measure& measure, const std::vector<Lift>& lines, double bottom, double top, double tilt) {
  const std::size_t n = measure.mass.size();
  std::vector<double> width(n - 1);
  for (std::size_t j = 0; j + 1 < n; ++j)
    width[j] = static_cast<double>(measure.index[j + 1] - measure.index[j]) * measure.step;
  // How far the potential is lowered at each knot. It is 0 at the ends, so that the end cells need
  // the gap's slope at the end instead of the line.
  std::vector<double> lift(n, 0.0);
  for (std::size_t j = 1; j + 1 < n; ++j)
    lift[j] = std::max(lines[j].low, lines[j - 1].high * std::exp((tilt + 1) * width[j - 1]));
  if (n > 2) {
    lift[1] = std::max(lift[1], bottom * decay(width[0]) * std::exp((tilt + 1) * width[0]));
    const double s = width[n - 2];
    lift[n - 2] = std::max(lift[n - 2], top * decay(s) * std::exp(-tilt * s));
  }
  std::vector<double>& mass = measure.mass;
  for (std::size_t j = 0; j < n; ++j) {
    if (j > 0) {
      const double s = width[j - 1];
      mass[j] += (lift[j] * std::exp(-s) - lift[j - 1] * std::exp(tilt * s)) / decay(s);
    }
    if (j + 1 < n) {
      const double s = width[j];
      mass[j] += (lift[j] - lift[j + 1] * std::exp(-(tilt + 1) * s)) / decay(s);
    }
  }
  make_convex(mass, measure.index, measure.step, tilt);
}

}  // namespace

double Measure::total() const { return std::accumulate(mass.begin(), mass.end(), 0.0); }

Measure discretize(const LossLaw& law,
                   const LossLaw::Range& range,
                   double tilt,
                   double log_scale,
                   double origin,
                   double step,
                   const std::vector<std::int64_t>& knots,
                   Bound bound) {
  const std::size_t cells = knots.size() - 1;
  const bool lower = bound == Bound::kLower;
  const CellIntegrator integrator(law, tilt, log_scale, origin, bound);
  Measure result{
      origin, step, knots, std::vector<double>(knots.size(), 0.0), log_scale, mass_error(law)};
  const auto loss_at = [&](std::size_t j) { return origin + static_cast<double>(knots[j]) * step; };
  const auto coordinate = [&](double l) {
    return std::clamp(law.inverse(l), range.low, range.high);
  };

  std::vector<Lift> lines(lower ? cells : 0);
  double bottom = 0;
  double top = 0;
  std::size_t next_atom = 0;
  double b_low = law.has_density() ? coordinate(loss_at(0)) : 0;
  for (std::size_t j = 0; j < cells; ++j) {
    const double low = loss_at(j);
    const double width = loss_at(j + 1) - low;
    const int parts = lower ? 2 : 1;
    std::array<Split, 2> split;
    for (int k = 0; k < parts && law.has_density(); ++k) {
      const double part = width / parts;
      const double start = low + k * part;
      const double b_high = coordinate(k + 1 == parts ? loss_at(j + 1) : start + part);
      integrator.add(split[static_cast<std::size_t>(k)], start, part, b_low, b_high);
      b_low = std::max(b_low, b_high);
    }
    for (; next_atom < law.atoms().size(); ++next_atom) {
      const LossLaw::Atom& atom = law.atoms()[next_atom];
      const double slack = 4 * kRoundOff * (std::abs(atom.loss) + std::abs(origin));
      if (atom.loss > loss_at(j + 1) + slack) break;
      const double p = atom.mass * std::exp(tilt * low - log_scale);
      const bool at_low = std::abs(atom.loss - low) <= slack;
      if (at_low || std::abs(atom.loss - loss_at(j + 1)) <= slack) {
        const double there = at_low ? p : p * std::exp(tilt * width);
        result.mass[at_low ? j : j + 1] += there;
        result.error += there * slack * 3 * (tilt + 1);
        continue;
      }
      const double part = width / parts;
      const int k = parts == 2 && atom.loss > low + part ? 1 : 0;
      integrator.add_point(split[static_cast<std::size_t>(k)],
                           p * std::exp(tilt * k * part),
                           atom.loss,
                           low + k * part,
                           part,
                           decay(part));
    }
    Split whole = split[0];
    if (lower) {
      // Both halves end at the middle, in whose potential the chord of the cell is lifted.
      const double half_tilt = std::exp(-tilt * width / 2);
      const Split second{split[1].to_low * half_tilt, split[1].to_high * half_tilt};
      const double up = 1 / (1 + std::exp(-width / 2));
      const double middle = split[0].to_high + second.to_low;
      whole = {split[0].to_low + middle * (1 - up), second.to_high + middle * up};
      // The tangent of the gap in the middle.
      const double scale = decay(width) * (1 + 1e-12);
      lines[j] = {up * split[0].to_high * scale, (1 - up) * second.to_low * scale};
      if (j == 0) bottom = whole.to_low;
      if (j + 1 == cells) top = whole.to_high * std::exp(tilt * width);
    }
    result.mass[j] += whole.to_low;
    result.mass[j + 1] += whole.to_high * std::exp(tilt * width);
  }
  SOTTO_CHECK(next_atom == law.atoms().size());

  if (lower) {
    contract(result, lines, bottom, top, tilt);
  } else if (range.below > 0) {
    const double l = (law.loss(range.low) - origin) / step;
    const auto at = std::lower_bound(knots.begin(), knots.end() - 1, l + 1e-6) - knots.begin();
    const auto j = static_cast<std::size_t>(at);
    result.mass[j] += range.below * std::exp(tilt * loss_at(j) - log_scale);
  }
  return result;
}

Measure coarsen(const Measure& fine, std::int64_t ratio, double tilt, Bound bound) {
  const auto floor_div = [&](std::int64_t i) { return (i >= 0 ? i : i - ratio + 1) / ratio; };
  const std::int64_t first = fine.index.front();
  const std::int64_t low = floor_div(first);
  const std::int64_t high = floor_div(fine.index.back()) + 1;
  const double width = static_cast<double>(ratio) * fine.step;
  const auto r = static_cast<std::size_t>(ratio);
  std::vector<double> up(r), down_tilt(r);
  for (std::size_t i = 0; i < r; ++i) {
    const double offset = static_cast<double>(i) * fine.step;
    up[i] = decay(offset) / decay(width);
    down_tilt[i] = std::exp(-tilt * offset);
  }
  const double width_tilt = std::exp(tilt * width);

  Measure result{fine.origin, width, {}, {}, fine.log_scale, 0};
  result.index.resize(static_cast<std::size_t>(high - low + 1));
  std::iota(result.index.begin(), result.index.end(), low);
  result.mass.assign(result.index.size(), 0.0);
  result.error = fine.error + static_cast<double>(ratio + 32) * kRoundOff * fine.total();
  const std::size_t cells = result.index.size() - 1;
  std::vector<Lift> lines(bound == Bound::kLower ? cells : 0);
  double bottom = 0;
  double top = 0;
  const std::size_t middle = r / 2;
  for (std::size_t j = 0; j < cells; ++j) {
    const std::int64_t start = result.index[j] * ratio - first;
    double to_low = 0, to_high = 0;
    double left = 0,
           right = 0;  // what either half sends to the middle, times its share of the cell
    for (std::size_t i = 0; i < r; ++i) {
      const std::int64_t at = start + static_cast<std::int64_t>(i);
      if (at < 0 || at >= static_cast<std::int64_t>(fine.mass.size())) continue;
      const double m = fine.mass[static_cast<std::size_t>(at)] * down_tilt[i];
      const double high_part = m * up[i];
      const double low_part = m * (1 - up[i]);
      to_high += high_part;
      to_low += low_part;
      if (i == 0) continue;
      if (i < middle) left += high_part;
      if (i > middle) right += low_part;
      if (i == middle) left += high_part / 2, right += low_part / 2;
    }
    result.mass[j] += to_low;
    result.mass[j + 1] += to_high * width_tilt;
    if (bound == Bound::kUpper) continue;
    const double scale = decay(width) * (1 + 1e-12);
    lines[j] = {left * scale, right * scale};
    if (j == 0) bottom = to_low;
    if (j + 1 == cells) top = to_high * width_tilt;
  }
  if (bound == Bound::kLower) contract(result, lines, bottom, top, tilt);
  return result;
}

}  // namespace sotto::pld
