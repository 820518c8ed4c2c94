#include "sotto/privacy/accountant/pld_compose.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <unsupported/Eigen/FFT>

#include "sotto/core/check.hpp"

namespace sotto::pld {
namespace {

constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;
using Spectrum = std::vector<std::complex<double>>;

// Keeps its tables between calls; real input, half spectrum.
Eigen::FFT<double>& fft() {
  thread_local Eigen::FFT<double> instance(Eigen::default_fft_impl<double>(),
                                           Eigen::FFT<double>::HalfSpectrum);
  return instance;
}

// The smallest multiple of 16 without prime factors above 5 that holds n points.
std::size_t transform_size(double n) {
  std::size_t best = std::numeric_limits<std::size_t>::max();
  for (std::size_t fives = 16; fives < best; fives *= 5) {
    for (std::size_t threes = fives; threes < best; threes *= 3) {
      std::size_t size = threes;
      while (static_cast<double>(size) < n) size *= 2;
      best = std::min(best, size);
      if (static_cast<double>(threes) >= n) break;
    }
    if (static_cast<double>(fives) >= n) break;
  }
  return best;
}

// x^n, by squaring: the relative error is below 4n units of round-off.
void multiply_power(Spectrum& result, Spectrum base, std::int64_t n) {
  while (true) {
    if (n & 1) {
      for (std::size_t k = 0; k < base.size(); ++k) {
        const double a = result[k].real(), b = result[k].imag();
        const double c = base[k].real(), d = base[k].imag();
        result[k] = {a * c - b * d, a * d + b * c};
      }
    }
    n >>= 1;
    if (n == 0) return;
    for (auto& x : base) {
      const double a = x.real(), b = x.imag();
      // Far below round-off; it would only become a slow subnormal number.
      x = a * a + b * b < 1e-100 ? std::complex<double>(0, 0)
                                 : std::complex<double>(a * a - b * b, 2 * a * b);
    }
  }
}

struct Moments {
  double mean;
  double square_norm;
};

Moments moments(const Measure& m) {
  double mean = 0, square = 0;
  for (std::size_t j = 0; j < m.mass.size(); ++j) {
    mean += m.mass[j] * static_cast<double>(m.index[j]);
    square += m.mass[j] * m.mass[j];
  }
  return {mean * m.step, square};
}

// log sum of mass e^{s (loss - origin - centre)}, from above.
double log_mgf(const Measure& m, double s, double centre) {
  double sum = 0;
  for (std::size_t j = 0; j < m.mass.size(); ++j) {
    if (m.mass[j] > 0)
      sum += m.mass[j] * std::exp(s * (static_cast<double>(m.index[j]) * m.step - centre));
  }
  return std::log(sum) + 1e-11;
}

// Makes the masses sum to 1.
void normalize(Measure& m) {
  const double total = m.total();
  if (total <= 0) return;
  for (double& x : m.mass) x /= total;
  m.log_scale += std::log(total);
  m.error = m.error / total + 8 * kUnit;
}

// One copy of a tail: loss 0, or one of the rare losses B, scaled and raised so that composing it
// with the bulk dominates the uncut law (lemma 6).
Measure tail_lattice(const LossLaw& law, const LawPlan& plan, double tilt) {
  const auto lattice = [&](double origin) {
    return discretize(law, plan.range, tilt, 0, origin, plan.first_step, plan.knots, Bound::kUpper);
  };
  Measure tail = lattice(0);
  double mass = plan.range.above;
  for (std::size_t j = 0; j < tail.mass.size(); ++j)
    mass += tail.mass[j] * std::exp(-tilt * static_cast<double>(tail.index[j]) * tail.step);
  const double raise = -std::log1p(-mass) * (1 + 1e-9);
  tail = lattice(-raise);
  tail.origin = 0;
  for (double& m : tail.mass) m *= std::exp((tilt + 1) * raise);
  const auto zero = std::lower_bound(tail.index.begin(), tail.index.end(), 0) - tail.index.begin();
  if (tail.index[static_cast<std::size_t>(zero)] != 0) {
    tail.index.insert(tail.index.begin() + zero, 0);
    tail.mass.insert(tail.mass.begin() + zero, 0.0);
  }
  tail.error *= tail.total();
  tail.mass[static_cast<std::size_t>(zero)] += 1;
  return tail;
}

// One copy of the law. How well the contraction does at the ends of the law depends on where the
// lattice lies; the best of a few origins is the one that keeps the most tilted mass.
Measure first_lattice(const CountedLaw& counted, const LawPlan& plan, double tilt, Bound bound) {
  const LossLaw& law = counted.law;
  SOTTO_CHECK(bound == Bound::kUpper || counted.piece == CountedLaw::Piece::kWhole);
  if (counted.piece == CountedLaw::Piece::kTail) return tail_lattice(law, plan, tilt);
  const bool one = bound == Bound::kUpper || !law.atoms().empty();
  const int origins = one ? 1 : plan.knots.size() > 20000 ? 1 : plan.knots.size() > 2000 ? 3 : 12;
  Measure best;
  for (int i = 0; i < origins; ++i) {
    const double origin = plan.origin + plan.first_step * i / origins;
    Measure trial = discretize(
        law, plan.range, tilt, plan.log_scale, origin, plan.first_step, plan.knots, bound);
    if (i == 0 || trial.total() > best.total()) best = std::move(trial);
  }
  return best;
}

}  // namespace

Measure convolve(const std::vector<Part>& parts, const Window& window) {
  double origin = 0, mean = 0, compositions = 0, log_scale = 0, own_error = 0, norms = 0;
  std::vector<double> means;
  const double step = parts.front().measure->step;
  for (const Part& part : parts) {
    const auto n = static_cast<double>(part.count);
    const Moments m = moments(*part.measure);
    means.push_back(m.mean);
    mean += n * m.mean;
    compositions += n;
    origin += n * part.measure->origin;
    log_scale += n * part.measure->log_scale;
    own_error += n * part.measure->error;
    norms += n * std::sqrt(m.square_norm);
  }
  // Means and the window are counted from the origin of the lattice.
  const double position = std::floor((mean + window.low - window.mean) / step);
  constexpr double kFarthest = 1e15;
  constexpr double kLongest = 1 << 23;
  const double length = (window.high - window.low) / step + 2;
  if (!(std::abs(position) < kFarthest && length < kLongest)) {
    // An input that round-off has spoiled, or left nothing of, gives a measure that bounds nothing.
    const double spoiled = std::numeric_limits<double>::quiet_NaN();
    return {0, step, {0, 1}, {0, 0}, 0, spoiled};
  }
  const auto first = static_cast<std::int64_t>(position);
  const std::size_t size = transform_size(length);
  const auto period = static_cast<std::int64_t>(size);

  double outside = 0;
  for (const double s : {window.exponent_low, window.exponent_high}) {
    const auto edge = static_cast<double>(s < 0 ? first - 1 : first + period) * step;
    double exponent = -s * (edge - mean);
    for (std::size_t i = 0; i < parts.size(); ++i)
      exponent += static_cast<double>(parts[i].count) * log_mgf(*parts[i].measure, s, means[i]);
    outside += std::exp(std::min(0.0, exponent));
  }

  Spectrum product, spectrum;
  std::vector<double> wrapped(size);
  for (const Part& part : parts) {
    std::fill(wrapped.begin(), wrapped.end(), 0.0);
    const Measure& m = *part.measure;
    for (std::size_t j = 0; j < m.mass.size(); ++j) {
      const std::int64_t k = m.index[j] % period;
      wrapped[static_cast<std::size_t>(k < 0 ? k + period : k)] += m.mass[j];
    }
    fft().fwd(spectrum, wrapped);
    if (product.empty()) product.assign(spectrum.size(), {1, 0});
    multiply_power(product, std::move(spectrum), part.count);
  }
  fft().inv(wrapped, product, static_cast<Eigen::Index>(size));

  Measure result{
      origin, step, std::vector<std::int64_t>(size), std::vector<double>(size), log_scale, 0};
  const std::int64_t start = ((first % period) + period) % period;
  double norm = 0;
  for (std::size_t i = 0; i < size; ++i) {
    result.index[i] = first + static_cast<std::int64_t>(i);
    const double mass = wrapped[(static_cast<std::size_t>(start) + i) % size];
    result.mass[i] = std::max(0.0, mass);
    norm += mass * mass;
  }
  const double points = static_cast<double>(size);
  const double round_off =
      kUnit * std::sqrt(points) *
      ((20 * std::log2(points) + 4) * (norms + 1) + 4 * compositions * std::sqrt(norm));
  result.error = std::expm1(std::min(own_error, 700.0)) + 2 * outside + 1.01 * round_off;
  return result;
}

double log_chernoff(const std::vector<CountedLaw>& laws, const Plan& plan, double epsilon) {
  const double t = plan.tilt;
  double exponent = -t * epsilon - t * std::log1p(1 / t) - std::log1p(t);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const Measure one = first_lattice(laws[i], plan.laws[i], t, Bound::kUpper);
    exponent += static_cast<double>(laws[i].count) *
                (one.log_scale + std::log(one.total() * (1 + one.error)));
  }
  return exponent + 1e-12 * (1 + std::abs(exponent) + t * epsilon);
}

double transform_points(const std::vector<CountedLaw>& laws, const Plan& plan) {
  const auto length = [](const Window& window, double step) {
    return (window.high - window.low) / step;
  };
  double points = 0;
  double transforms = 1;  // back from the last product
  for (std::size_t i = 0; i < laws.size(); ++i) {
    std::int64_t count = laws[i].count;
    bool has_rest = false;
    for (const Level& level : plan.laws[i].levels) {
      const int left = count % level.count > 0 ? 1 : 0;
      const int rests = left + (has_rest ? 1 : 0);
      has_rest = rests > 0;
      points += (2 + rests + (has_rest ? 1 : 0)) * length(level.window, level.step);
      count /= level.count;
    }
    transforms += has_rest ? 2 : 1;
  }
  return points + transforms * length(plan.window, plan.last_step);
}

Measure compose(const std::vector<CountedLaw>& laws, const Plan& plan, Bound bound) {
  std::vector<Measure> measures;
  std::vector<std::int64_t> counts;
  measures.reserve(2 * laws.size());
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const LawPlan& law = plan.laws[i];
    Measure block = first_lattice(laws[i], law, plan.tilt, bound);
    normalize(block);
    // `count` blocks and what did not fill one.
    std::int64_t count = laws[i].count;
    Measure rest;
    bool has_rest = false;
    for (std::size_t k = 0; k < law.levels.size(); ++k) {
      const Level& level = law.levels[k];
      const double next = k + 1 < law.levels.size() ? law.levels[k + 1].step : plan.last_step;
      const auto ratio = static_cast<std::int64_t>(std::llround(next / level.step));
      const auto raise = [&](const std::vector<Part>& parts) {
        Measure coarse = coarsen(convolve(parts, level.window), ratio, plan.tilt, bound);
        normalize(coarse);
        return coarse;
      };
      const std::int64_t left = count % level.count;
      std::vector<Part> rest_parts;
      if (left > 0) rest_parts.push_back({&block, left});
      if (has_rest) rest_parts.push_back({&rest, 1});
      Measure next_rest = rest_parts.empty() ? Measure{} : raise(rest_parts);
      has_rest = !rest_parts.empty();
      block = raise({{&block, level.count}});
      rest = std::move(next_rest);
      count /= level.count;
    }
    measures.push_back(std::move(block));
    counts.push_back(count);
    if (has_rest) {
      measures.push_back(std::move(rest));
      counts.push_back(1);
    }
  }
  std::vector<Part> parts;
  for (std::size_t i = 0; i < measures.size(); ++i) parts.push_back({&measures[i], counts[i]});
  if (parts.size() == 1 && parts[0].count == 1) return measures[0];
  return convolve(parts, plan.window);
}

}  // namespace sotto::pld
