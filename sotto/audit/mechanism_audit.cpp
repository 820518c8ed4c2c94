#include "sotto/audit/mechanism_audit.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "sotto/audit/made_up_claim.hpp"
#include "sotto/mechanism/exponential.hpp"
#include "sotto/mechanism/gaussian.hpp"
#include "sotto/mechanism/joint_gaussian.hpp"
#include "sotto/mechanism/laplace.hpp"
#include "sotto/mechanism/permute_and_flip.hpp"
#include "sotto/mechanism/sparse_vector.hpp"
#include "sotto/mechanism/symmetric_gaussian.hpp"
#include "sotto/privacy/accountant/gaussian.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {
namespace {

constexpr Relation kRelation = Relation::kZeroOut;
constexpr double kRate = 0.5;
constexpr int kCandidates = 4;
constexpr int kQuestions = 5;

/// Unit vector and rank-one matrix that use every coordinate.
Vector direction() { return Vector::Constant(3, 1 / std::sqrt(3.0)); }
Matrix rank_one() { return direction() * direction().transpose(); }

SensitivityClaim sealed(double lie, const Sampling& sampling) {
  return MadeUpClaim::of(1 / lie, kRelation, sampling);
}

MechanismAudit::Release gaussian(double z) {
  return
      [z](int, bool present, Receipt receipt, const Sampling& sampling, double lie, Stream& noise) {
        const Vector v = direction();
        return GaussianMechanism::release({present ? v : Vector::Zero(3), sealed(lie, sampling)},
                                          std::move(receipt),
                                          z,
                                          noise)
            .value()
            .dot(v);
      };
}

MechanismAudit::Release symmetric_gaussian(double z) {
  return
      [z](int, bool present, Receipt receipt, const Sampling& sampling, double lie, Stream& noise) {
        const Matrix v = rank_one();
        return SymmetricGaussianMechanism::release(
                   {present ? v : Matrix::Zero(3, 3), sealed(lie, sampling)},
                   std::move(receipt),
                   z,
                   noise)
            .value()
            .cwiseProduct(v)
            .sum();
      };
}

MechanismAudit::Release joint_gaussian(double z) {
  return
      [z](int, bool present, Receipt receipt, const Sampling& sampling, double lie, Stream& noise) {
        // Half of the squared sensitivity each, in units of the scales.
        GradientHessian value{Vector::Zero(3), Matrix::Zero(3, 3), 2, 0.5};
        const Vector g = value.gradient_scale * std::sqrt(0.5) * direction();
        const Matrix h = value.hessian_scale * std::sqrt(0.5) * rank_one();
        if (present) {
          value.gradient = g;
          value.hessian = h;
        }
        const auto answer = JointGaussianMechanism::release(
            {std::move(value), sealed(lie, sampling)}, std::move(receipt), z, noise);
        return answer.value().gradient.dot(g) / 4 +
               answer.value().hessian.cwiseProduct(h).sum() / 0.25;
      };
}

MechanismAudit::Release laplace(double z) {
  return
      [z](int, bool present, Receipt receipt, const Sampling& sampling, double lie, Stream& noise) {
        return LaplaceMechanism::release(
                   {present ? 1.0 : 0.0, sealed(lie, sampling)}, std::move(receipt), z, noise)
            .value();
      };
}

/// The first candidate is well below the others until its score goes up by the sensitivity and all
/// others' go down by it: a rare outcome that becomes common.
template <class Mechanism>
MechanismAudit::Release selection(double epsilon) {
  return
      [epsilon](
          int, bool present, Receipt receipt, const Sampling& sampling, double lie, Stream& noise) {
        Vector scores = Vector::Zero(kCandidates);
        if (!present) {
          scores.setConstant(1);
          scores[0] = -1;
        }
        const auto chosen = Mechanism::release({std::move(scores), sealed(lie, sampling)},
                                               std::move(receipt),
                                               epsilon,
                                               ScoreMotion::kAny,
                                               noise);
        return chosen.value() == 0 ? 1.0 : 0.0;
      };
}

/// All questions' numbers fall by the sensitivity but the last one, which rises.
MechanismAudit::Release sparse_vector(double epsilon) {
  return
      [epsilon](
          int, bool present, Receipt receipt, const Sampling& sampling, double lie, Stream& noise) {
        SparseVectorSession session(
            std::move(receipt), epsilon, sealed(lie, Sampling::full()), 0, noise);
        for (int question = 1; question <= kQuestions; ++question) {
          const double sign = question == kQuestions ? 1 : -1;
          const double value = present ? sign / 2 : -sign / 2;
          if (session.is_above({value, sealed(lie, sampling)}).value())
            return static_cast<double>(question);
        }
        return 0.0;
      };
}

}  // namespace

Expected<MechanismAudit> MechanismAudit::make(std::string name,
                                              const EventFamily& inner,
                                              std::int64_t samples,
                                              const Sampling& sampling,
                                              double parameter,
                                              double delta,
                                              Release release) {
  const EventFamily family = [inner, sampling](double z) { return sampling.applied_to(inner(z)); };
  MechanismAudit audit;
  audit.name_ = sampling.kind == Sampling::Kind::kFull
                    ? std::move(name)
                    : std::move(name) + " on " + to_string(sampling);
  audit.sampling_ = sampling;
  audit.event_ = std::make_shared<const Event>(family(parameter));
  audit.samples_ = samples;
  audit.delta_ = delta;
  audit.release_ = std::move(release);
  SOTTO_ASSIGN(const CanonicalEvent event, canonical(*audit.event_));
  SOTTO_ASSIGN(const Accountant* accountant, tightest_accountant(event));
  SOTTO_ASSIGN(const double epsilon, epsilon_with_samples(event, samples, delta, *accountant));
  audit.price_ = std::make_shared<const KnownPrice>(*accountant, epsilon);
  SOTTO_ASSIGN(audit.claim_, sharpest_claim(epsilon, delta, family, parameter));
  return audit;
}

Trial MechanismAudit::trial(double lie, std::uint64_t seed) const {
  return [*this, lie, seed](int world, std::int64_t run) {
    const std::uint64_t instance =
        2 * static_cast<std::uint64_t>(run) + static_cast<std::uint64_t>(world);
    Stream noise = Stream::seeded(seed, Purpose::kNoise, instance);
    bool present = world == 1;
    if (sampling_.kind == Sampling::Kind::kPoisson)
      present =
          present && Stream::seeded(seed, Purpose::kSampling, instance).uniform() < sampling_.rate;
    Expected<Ledger> ledger = open_ledger(*event_, samples_, delta_, *price_);
    Expected<Receipt> receipt = ledger ? ledger->charge(*event_, samples_)
                                       : Expected<Receipt>(fail(ErrorKind::kInternal, ""));
    if (!receipt) return std::numeric_limits<double>::quiet_NaN();
    return release_(world, present, *std::move(receipt), sampling_, lie, noise);
  };
}

Expected<std::vector<MechanismAudit>> mechanism_audits(double epsilon, double delta) {
  SOTTO_TRY(check(Target{epsilon, delta}));
  const double z = 1 / gaussian_largest_mu(epsilon, delta);
  const EventFamily gaussians = [](double m) { return Event::gaussian(m, kRelation); };
  const EventFamily laplaces = [](double m) { return Event::laplace(m, kRelation); };
  const EventFamily selections = [](double m) { return Event::exponential(1 / m, kRelation); };
  const EventFamily pure = [](double m) { return Event::sparse_vector(1 / m, kRelation); };

  std::vector<MechanismAudit> audits;
  const auto add = [&](const char* name,
                       const EventFamily& family,
                       std::int64_t samples,
                       const Sampling& sampling,
                       double parameter,
                       MechanismAudit::Release release) -> Expected<void> {
    SOTTO_ASSIGN(MechanismAudit audit,
                 MechanismAudit::make(
                     name, family, samples, sampling, parameter, delta, std::move(release)));
    audits.push_back(std::move(audit));
    return {};
  };
  for (const Sampling& sampling : {Sampling::full(), Sampling::poisson(kRate)}) {
    SOTTO_TRY(add("gaussian", gaussians, 3, sampling, z, gaussian(z)));
    SOTTO_TRY(add("symmetric gaussian", gaussians, 6, sampling, z, symmetric_gaussian(z)));
    SOTTO_TRY(add("joint gaussian", gaussians, 9, sampling, z, joint_gaussian(z)));
    SOTTO_TRY(add("laplace", laplaces, 1, sampling, 1 / epsilon, laplace(1 / epsilon)));
    SOTTO_TRY(add("exponential",
                  selections,
                  1,
                  sampling,
                  1 / epsilon,
                  selection<ExponentialMechanism>(epsilon)));
    SOTTO_TRY(add(
        "permute and flip", pure, 1, sampling, 1 / epsilon, selection<PermuteAndFlip>(epsilon)));
  }
  SOTTO_TRY(add("sparse vector",
                pure,
                kQuestions + 1,
                Sampling::full(),
                1 / epsilon,
                sparse_vector(epsilon)));
  return audits;
}

}  // namespace sotto
