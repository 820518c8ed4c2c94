#include "sotto/privacy/accountant/pld_pair.hpp"

#include <algorithm>
#include <limits>
#include <numbers>

#include "sotto/core/check.hpp"

namespace sotto::pld {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double log_normal_constant(double sigma) {
  return -std::log(sigma) - 0.5 * std::log(2 * std::numbers::pi);
}

// The b with log_mixture(q, b) = l.
double inverse_mixture(double q, double l) {
  if (l > 600) return l - std::log(q);
  const double ratio = std::expm1(l) / q;
  return ratio <= -1 ? -kInfinity : std::log1p(ratio);
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
  return law;
}

LossLaw LossLaw::laplace(double epsilon) {
  // Between the centres the density of the loss is e^{-(epsilon - b) / 2} / 4.
  LossLaw law;
  law.epsilon_ = epsilon;
  law.log_constant_ = -std::log(4.0) - epsilon / 2;
  law.atoms_ = {{-epsilon, 0.5 * std::exp(-epsilon)}, {epsilon, 0.5}};
  return law;
}

LossLaw LossLaw::bounded_range(double epsilon) {
  // density e^{b/2} / (4 sinh(epsilon / 2)): pld.proof.md, section 2.4
  LossLaw law;
  law.epsilon_ = epsilon;
  law.log_constant_ = -std::log(2.0) - epsilon / 2 - std::log(-std::expm1(-epsilon));
  return law;
}

LossLaw LossLaw::pure(double epsilon) {
  LossLaw law;
  law.epsilon_ = epsilon;
  law.has_density_ = false;
  law.atoms_ = {{-epsilon, 1 / (1 + std::exp(epsilon))}, {epsilon, 1 / (1 + std::exp(-epsilon))}};
  return law;
}

LossLaw LossLaw::poisson(double rate, const LossLaw& base, Direction direction) {
  SOTTO_CHECK(base.form_ == Form::kPlain && rate > 0 && rate <= 1);
  LossLaw law = base;
  if (rate == 1) return law;
  law.form_ = direction == Direction::kRemove ? Form::kRemove : Form::kAdd;
  law.rate_ = rate;
  for (Atom& atom : law.atoms_) {
    const double b = atom.loss;
    atom.loss = law.loss(b);
    // P becomes (1 - q) Q + q P where a record is removed.
    if (direction == Direction::kRemove) atom.mass *= rate + (1 - rate) * std::exp(-b);
  }
  return law;
}

LossLaw LossLaw::poisson_replace(double rate, double noise_multiplier) {
  if (rate == 1) return gaussian(1 / noise_multiplier);
  LossLaw law;
  law.form_ = Form::kReplace;
  law.gaussian_ = true;
  law.rate_ = rate;
  law.sigma_ = 0.5 / noise_multiplier;
  law.log_constant_ = log_normal_constant(law.sigma_);
  law.log_odds_ = std::log((1 - rate) / rate) + law.sigma_ * law.sigma_ / 2;
  return law;
}

double LossLaw::loss(double b) const {
  switch (form_) {
    case Form::kPlain:
      return b;
    case Form::kRemove:
      return log_mixture(rate_, b);
    case Form::kAdd:
      return -log_mixture(rate_, -b);
    case Form::kReplace:
      break;
  }
  const double c = sigma_ * sigma_ / 2;
  if (std::abs(b) + c > 30) return log_mixture(rate_, b - c) - log_mixture(rate_, -b - c);
  // The difference of the two logarithms, without cancellation at b = 0.
  const double rest = 1 + rate_ * std::expm1(-b - c);
  return std::log1p(2 * rate_ * std::exp(-c) * std::sinh(b) / rest);
}

double LossLaw::log_density(double b, double loss_at_b) const {
  if (!gaussian_) {
    const double plain = log_constant_ + b / 2;
    return form_ == Form::kRemove ? plain - b + loss_at_b : plain;
  }
  const double half_square = sigma_ * sigma_ / 2;
  const auto normal = [&](double mean) {
    const double u = (b - mean) / sigma_;
    return log_constant_ - u * u / 2;
  };
  switch (form_) {
    case Form::kPlain:
    case Form::kAdd:
      return normal(half_square);
    case Form::kRemove:
      return normal(-half_square) + loss_at_b;
    case Form::kReplace:
      return normal(0) + log_mixture(rate_, b - half_square);
  }
  return -kInfinity;
}

double LossLaw::inverse(double l) const {
  switch (form_) {
    case Form::kPlain:
      return l;
    case Form::kRemove:
      return inverse_mixture(rate_, l);
    case Form::kAdd:
      return -inverse_mixture(rate_, -l);
    case Form::kReplace:
      break;
  }
  return l / 2 + asinh_scaled(log_odds_, l / 2);
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
  return {low_centre - sigma_ * below,
          high_centre + sigma_ * above,
          0.5 * std::exp(-below * below / 2),
          0.5 * std::exp(-above * above / 2) + std::numeric_limits<double>::denorm_min()};
}

double LossLaw::roughness(double b, bool density_only) const {
  if (!gaussian_) return 1.5;
  const double square = sigma_ * sigma_;
  if (form_ == Form::kPlain && density_only) return std::abs(b - square / 2) / square + 1 / sigma_;
  const double bend = form_ == Form::kPlain ? 0.0 : 1.0;
  return bend + 0.5 + std::abs(b) / square + 1 / sigma_;
}

double LossLaw::max_loss() const {
  switch (form_) {
    case Form::kPlain:
    case Form::kRemove:
      return gaussian_ ? kInfinity : loss(epsilon_);
    case Form::kAdd:
      return gaussian_ ? -std::log1p(-rate_) : loss(epsilon_);
    case Form::kReplace:
      break;
  }
  return kInfinity;
}

Expected<LossLaw> loss_law(const Term& term, Relation relation, Direction direction) {
  const auto refuse = [&](const std::string& why, const std::string& remedy) {
    return fail(ErrorKind::kUsage,
                "pld has no theorem for " + to_string(term) + " under " +
                    std::string(to_string(relation)) + ": " + why + ". " + remedy);
  };
  if (term.sampling == Term::Sampling::kFixedSize)
    return refuse("no dominating pair of fixed-size sampling is proved here",
                  "Use --accountant rdp, or Poisson sampling.");
  LossLaw base;
  switch (term.mechanism) {
    case Term::Mechanism::kGaussian:
      base = LossLaw::gaussian(1 / term.parameter);
      break;
    case Term::Mechanism::kLaplace:
      base = LossLaw::laplace(1 / term.parameter);
      break;
    case Term::Mechanism::kExponential:
      base = LossLaw::bounded_range(term.parameter);
      break;
    case Term::Mechanism::kSparseVector:
      base = LossLaw::pure(term.parameter);
      break;
    case Term::Mechanism::kNonPrivate:
      return refuse("it is not private", "Its epsilon is infinite by every accountant.");
  }
  if (term.sampling == Term::Sampling::kFull || term.rate == 1) return base;
  if (relation != Relation::kReplaceOne) return LossLaw::poisson(term.rate, base, direction);
  if (term.mechanism == Term::Mechanism::kGaussian)
    return LossLaw::poisson_replace(term.rate, term.parameter);
  return refuse("Poisson sampling under replace-one has a proved pair for the Gaussian only",
                "Use zero-out or add-remove.");
}

}  // namespace sotto::pld
