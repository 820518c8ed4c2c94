#include "sotto/privacy/accountant/pld_pair.hpp"

#include <algorithm>
#include <limits>
#include <numbers>

#include "sotto/core/check.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto::pld {
namespace {

double log_normal_constant(double sigma) {
  return -std::log(sigma) - 0.5 * std::log(2 * std::numbers::pi);
}

// The b with log_mixture(q, b) = l.
double inverse_mixture(const Rate& q, double l) {
  if (l > 600) return l - std::log(q.in);
  const double ratio = std::expm1(l) / q.in;
  if (ratio > -0.5) return std::log1p(ratio);
  // e^l = 1 - q + q e^b, without cancellation against 1.
  const double share = (std::exp(l) - q.out) / q.in;
  return share <= 0 ? -kInfinity : std::log(share);
}

// The b > 0 with log_mixture(posterior, b) = l > 0, where the posterior's odds at b are e^b /
// e^{log_odds}: a quadratic equation for e^b.
double inverse_posterior(double log_odds, double l) {
  const double log_k = log_odds - l + std::log(-std::expm1(-l));
  if (log_k > 600) return l + log_k / 2;
  const double k = std::exp(log_k);
  return l + std::log1p(2 * k / (1 + std::sqrt(1 + 4 * k)));
}

double asinh_scaled(double log_scale, double x) {
  // asinh(e^{log_scale} sinh(x)) without overflow.
  const double a = std::abs(x);
  const double log_sinh = a > 20 ? a - std::numbers::ln2 : std::log(std::sinh(a));
  const double log_argument = log_scale + log_sinh;
  const double value =
      log_argument > 300 ? log_argument + std::numbers::ln2 : std::asinh(std::exp(log_argument));
  return std::copysign(value, x);
}

}  // namespace

LossLaw LossLaw::gaussian(double mu) {
  LossLaw law;
  law.gaussian_ = true;
  law.sigma_ = mu;
  law.log_constant_ = log_normal_constant(mu);
  law.total_variation_ = std::erf(mu / (2 * std::numbers::sqrt2));
  return law;
}

LossLaw LossLaw::laplace(double epsilon) {
  // Between the centres the density of the loss is e^{-(epsilon - b) / 2} / 4.
  LossLaw law;
  law.epsilon_ = epsilon;
  law.log_constant_ = -std::log(4.0) - epsilon / 2;
  law.total_variation_ = -std::expm1(-epsilon / 2);
  law.atoms_ = {{-epsilon, 0.5 * std::exp(-epsilon)}, {epsilon, 0.5}};
  return law;
}

LossLaw LossLaw::bounded_range(double epsilon) {
  // density e^{b/2} / (4 sinh(epsilon / 2)): pld.proof.md, section 2.4
  LossLaw law;
  law.epsilon_ = epsilon;
  law.log_constant_ = -std::log(2.0) - epsilon / 2 - std::log(-std::expm1(-epsilon));
  law.total_variation_ = std::tanh(epsilon / 4);
  return law;
}

LossLaw LossLaw::pure(double epsilon) {
  LossLaw law;
  law.epsilon_ = epsilon;
  law.has_density_ = false;
  law.total_variation_ = std::tanh(epsilon / 2);
  law.atoms_ = {{-epsilon, 1 / (1 + std::exp(epsilon))}, {epsilon, 1 / (1 + std::exp(-epsilon))}};
  return law;
}

LossLaw LossLaw::poisson(const Rate& rate, const LossLaw& base, Direction direction) {
  SOTTO_CHECK(base.form_ == Form::kPlain && rate.in > 0);
  return base.sampled(direction == Direction::kRemove ? Form::kRemove : Form::kAdd, rate);
}

LossLaw LossLaw::poisson_replace(const Rate& rate, double noise_multiplier) {
  // The mixture's components are half a sensitivity apart.
  return gaussian(0.5 / noise_multiplier).sampled(Form::kReplace, rate);
}

LossLaw LossLaw::fixed_size_replace(const Rate& rate, const LossLaw& base) {
  SOTTO_CHECK(base.form_ == Form::kPlain);
  LossLaw law = base.sampled(Form::kFixedReplace, rate);
  law.add_atom_at_zero(rate.out * base.total_variation_);
  return law;
}

LossLaw LossLaw::fixed_size_null(const Rate& rate, double noise_multiplier, Direction direction) {
  const LossLaw base = gaussian(1 / noise_multiplier);
  const Form form = direction == Direction::kRemove ? Form::kFixedRemove : Form::kFixedAdd;
  LossLaw law = base.sampled(form, rate);
  // P(b <= sigma / 2) - P(b <= -3 sigma / 2) of a standard normal.
  const double far = std::erf(3 * law.sigma_ / (2 * std::numbers::sqrt2));
  law.add_atom_at_zero(rate.out * (base.total_variation_ + far) / 2);
  return law;
}

LossLaw LossLaw::three_points(const Rate& rate, double noise_multiplier) {
  LossLaw law = gaussian(1 / noise_multiplier).sampled(Form::kThreePoints, rate);
  const auto normal_below = [](double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; };
  const double s = law.sigma_;
  // What is not told apart, under P and Q; they differ by q times the total variation.
  const double p = rate.out * normal_below(1.5 * s) + rate.in * normal_below(-s / 2);
  const double q = rate.out * normal_below(1.5 * s) + rate.in * normal_below(s / 2);
  const double gap = rate.in * law.total_variation_ / q;
  law.atoms_ = {{gap < 0.5 ? std::log1p(-gap) : std::log(p / q), p}};
  return law;
}

LossLaw LossLaw::sampled(Form form, const Rate& rate) const {
  LossLaw law = *this;
  law.form_ = form;
  law.rate_ = rate;
  law.log_in_ = rate.in > 0.5 ? std::log1p(-rate.out) : std::log(rate.in);
  law.log_out_ = rate.out > 0.5 ? std::log1p(-rate.in) : std::log(rate.out);
  for (Atom& atom : law.atoms_) {
    const double b = atom.loss;
    atom.loss = law.loss(b);
    // P is (1 - q) Q + q P where a record is removed.
    const bool mixed = form == Form::kRemove || (form == Form::kFixedReplace && b > 0);
    if (mixed) atom.mass *= rate.in + rate.out * std::exp(-b);
  }
  return law;
}

void LossLaw::add_atom_at_zero(double mass) {
  const auto place =
      std::find_if(atoms_.begin(), atoms_.end(), [](const Atom& atom) { return atom.loss >= 0; });
  atoms_.insert(place, {0, mass});
}

LossLaw LossLaw::without_atoms() const {
  LossLaw law = *this;
  law.atoms_.clear();
  return law;
}

// The share of the record's own component in the mixture at b, where it stands at distance 1 from
// the null and the other one at -1: the losses of the three points are those of two with this rate.
Rate LossLaw::posterior(double b) const {
  const double exponent = log_in_ - log_out_ + b + sigma_ * sigma_;
  return {1 / (1 + std::exp(-exponent)), 1 / (1 + std::exp(exponent))};
}

double LossLaw::loss(double b) const {
  switch (form_) {
    case Form::kPlain:
      return b;
    case Form::kRemove:
      return log_mixture(rate_, b);
    case Form::kAdd:
      return -log_mixture(rate_, -b);
    case Form::kFixedReplace:
      return b >= 0 ? log_mixture(rate_, b) : -log_mixture(rate_, -b);
    case Form::kFixedRemove:
      return b >= 0 ? log_mixture(posterior(b), b) : -log_mixture(rate_, -b);
    case Form::kThreePoints:
      return log_mixture(posterior(b), b);
    case Form::kFixedAdd:
      return b >= 0 ? log_mixture(rate_, b) : -log_mixture(posterior(-b), -b);
    case Form::kReplace:
      break;
  }
  const double c = sigma_ * sigma_ / 2;
  const double a = std::abs(b);
  if (a > 30) return std::copysign(log_mixture(rate_, a - c) - log_mixture(rate_, -a - c), b);
  // The difference of the two logarithms, without cancellation at b = 0 and at q = 1.
  const double rest = rate_.out + rate_.in * std::exp(-a - c);
  return std::copysign(std::log1p(2 * rate_.in * std::exp(-c) * std::sinh(a) / rest), b);
}

double LossLaw::normal(double b, double mean) const {
  const double u = (b - mean) / sigma_;
  return log_constant_ - u * u / 2;
}

// Of (1 - q) N(mean_out) + q N(mean_in).
double LossLaw::log_normals(double b, double mean_out, double mean_in) const {
  const double out = log_out_ + normal(b, mean_out);
  const double in = log_in_ + normal(b, mean_in);
  const double high = std::max(out, in);
  return high + std::log1p(std::exp(std::min(out, in) - high));
}

double LossLaw::log_density(double b, double loss_at_b) const {
  if (!gaussian_) {
    const double plain = log_constant_ + b / 2;
    const bool mixed = form_ == Form::kRemove || (form_ == Form::kFixedReplace && b > 0);
    return mixed ? plain - b + loss_at_b : plain;
  }
  const double half = sigma_ * sigma_ / 2;
  const auto mixture = [&] {
    // The second way is right for large losses too, where the first one cancels.
    constexpr double kLargeLoss = 200;
    return half < kLargeLoss ? normal(b, -half) + loss_at_b : log_normals(b, -half, half);
  };
  switch (form_) {
    case Form::kPlain:
    case Form::kAdd:
      return normal(b, half);
    case Form::kRemove:
      return mixture();
    case Form::kReplace:
      return log_normals(b, 0, 2 * half);
    case Form::kFixedReplace:
      return b > 0 ? mixture() : normal(b, half);
    case Form::kFixedRemove:
      return b > 0 ? log_normals(b, -3 * half, half) : normal(b, half);
    case Form::kThreePoints:
      return log_normals(b, -3 * half, half);
    case Form::kFixedAdd:
      return b > 0 ? mixture() : log_normals(-b, -3 * half, -half);
  }
  return -kInfinity;
}

double LossLaw::inverse(double l) const {
  const auto mixture = [&](double x) { return inverse_mixture(rate_, x); };
  const auto three_points = [&](double x) {
    return inverse_posterior(log_out_ - log_in_ - sigma_ * sigma_, x);
  };
  switch (form_) {
    case Form::kPlain:
      return l;
    case Form::kRemove:
      return mixture(l);
    case Form::kAdd:
      return -mixture(-l);
    case Form::kFixedReplace:
    case Form::kFixedRemove:
    case Form::kFixedAdd:
      if (l == 0) return 0;
      if (l > 0) return form_ == Form::kFixedRemove ? three_points(l) : mixture(l);
      return form_ == Form::kFixedAdd ? -three_points(-l) : -mixture(-l);
    case Form::kThreePoints:
      return l > 0 ? three_points(l) : 0;
    case Form::kReplace:
      break;
  }
  return l / 2 + asinh_scaled(log_out_ - log_in_ + sigma_ * sigma_ / 2, l / 2);
}

LossLaw::Range LossLaw::range(double log_below, double log_above) const {
  if (!gaussian_) return {-epsilon_, epsilon_, 0, 0};
  // P(N > x) <= e^{-x^2 / 2} / 2 for x >= 0.
  const double below = std::sqrt(std::max(0.0, -2 * log_below));
  const double above = std::sqrt(std::max(0.0, -2 * log_above));
  const double square = sigma_ * sigma_;
  double low_centre = square / 2;
  double high_centre = square / 2;
  if (form_ == Form::kRemove) low_centre = -square / 2;
  if (form_ == Form::kReplace) low_centre = 0, high_centre = square;
  const bool from_zero = form_ == Form::kThreePoints;
  const double low = from_zero ? 0 : low_centre - sigma_ * below;
  return {has_kink() ? std::min(low, 0.0) : low,
          high_centre + sigma_ * above,
          from_zero ? 0 : 0.5 * std::exp(-below * below / 2),
          0.5 * std::exp(-above * above / 2) + std::numeric_limits<double>::denorm_min()};
}

double LossLaw::roughness(double b, bool density_only) const {
  if (!gaussian_) return 1.5;
  const double square = sigma_ * sigma_;
  if (form_ == Form::kPlain && density_only) return std::abs(b - square / 2) / square + 1 / sigma_;
  const bool three_points = form_ >= Form::kFixedRemove;
  const double bend = form_ == Form::kPlain ? 0.0 : three_points ? 3.0 : 1.0;
  return bend + 0.5 + std::abs(b) / square + 1 / sigma_;
}

double LossLaw::max_loss() const {
  if (!gaussian_) return loss(epsilon_);
  return form_ == Form::kAdd ? -log_out_ : kInfinity;
}

bool LossLaw::fits_lattice() const {
  constexpr double kSmallest = 1e-100;
  constexpr double kLargest = 1e4;
  constexpr double kLargestSampled = 60;
  const double largest = form_ == Form::kPlain ? kLargest : kLargestSampled;
  return scale() >= kSmallest && scale() <= largest && rate_.in >= kSmallest;
}

namespace {

LossLaw unsampled(const Term& term) {
  switch (term.mechanism) {
    case Term::Mechanism::kGaussian:
      return LossLaw::gaussian(1 / term.parameter);
    case Term::Mechanism::kLaplace:
      return LossLaw::laplace(1 / term.parameter);
    case Term::Mechanism::kExponential:
      return LossLaw::bounded_range(term.parameter);
    case Term::Mechanism::kSparseVector:
      return LossLaw::pure(term.parameter);
    case Term::Mechanism::kNonPrivate:
      break;
  }
  SOTTO_CHECK(false);
  return LossLaw::pure(0);
}

}  // namespace

Expected<LossLaw> loss_law(const Term& term, Relation relation, Direction direction) {
  const auto refuse = [&](const std::string& why, const std::string& remedy) {
    return fail(ErrorKind::kUsage,
                "pld has no theorem for " + to_string(term) + " under " +
                    std::string(to_string(relation)) + ": " + why + ". " + remedy);
  };
  if (term.mechanism == Term::Mechanism::kNonPrivate)
    return refuse("it is not private", "Its epsilon is infinite by every accountant.");
  const LossLaw base = unsampled(term);
  const bool gaussian = term.mechanism == Term::Mechanism::kGaussian;
  if (term.sampling == Term::Sampling::kFixedSize) {
    const Rate rate = Rate::fixed_size(term.batch, term.population);
    if (relation == Relation::kAddRemove)
      return refuse("the population, and with it the law of the batch, changes with the record",
                    "Use poisson, or zero-out or replace-one.");
    if (relation == Relation::kReplaceOne) return LossLaw::fixed_size_replace(rate, base);
    if (gaussian) return LossLaw::fixed_size_null(rate, term.parameter, direction);
    return refuse(
        "a batch with the record and one without differ by a replacement, of which its epsilon "
        "says nothing",
        "Use poisson or replace-one.");
  }
  if (term.sampling == Term::Sampling::kFull || term.rate == 1) return base;
  const Rate rate = Rate::poisson(term.rate);
  if (relation != Relation::kReplaceOne) return LossLaw::poisson(rate, base, direction);
  if (gaussian) return LossLaw::poisson_replace(rate, term.parameter);
  return refuse("Poisson sampling under replace-one has a proved pair for the Gaussian only",
                "Use zero-out or add-remove, or fixed_size.");
}

LossLaw attained_law(const Term& term, Relation relation, Direction direction, std::size_t which) {
  const bool gaussian = term.mechanism == Term::Mechanism::kGaussian;
  // Randomized response of half the range is one selection of that range; the pair that dominates
  // all selections is none.
  const LossLaw base = term.mechanism == Term::Mechanism::kExponential
                           ? LossLaw::pure(term.parameter / 2)
                           : unsampled(term);
  const bool fixed_size = term.sampling == Term::Sampling::kFixedSize;
  if (!fixed_size && (term.sampling == Term::Sampling::kFull || term.rate == 1)) return base;
  const Rate rate =
      fixed_size ? Rate::fixed_size(term.batch, term.population) : Rate::poisson(term.rate);
  const Direction other = direction == Direction::kAdd ? Direction::kRemove : Direction::kAdd;
  if (!fixed_size)
    return relation == Relation::kReplaceOne ? LossLaw::poisson_replace(rate, term.parameter)
                                             : LossLaw::poisson(rate, base, direction);
  if (relation == Relation::kReplaceOne) {
    // All others where the replacement is; where the record is; or between the two.
    if (which == 2 && gaussian) return LossLaw::poisson_replace(rate, term.parameter);
    return LossLaw::poisson(rate, base, which == 0 ? direction : other);
  }
  if (direction == Direction::kRemove && which == 0)
    return LossLaw::three_points(rate, term.parameter);
  // All others at the null, or where the record is.
  return LossLaw::poisson(rate, base, which == 2 ? other : direction);
}

}  // namespace sotto::pld
