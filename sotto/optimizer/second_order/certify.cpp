// The certificate of a search's result: confidence bounds from one fresh release at the returned
// point, paid with a share of the budget that was kept for it. The values that the search stopped
// on are biased towards stopping and are not used.

#include <cmath>

#include "sotto/core/option_names.hpp"
#include "sotto/loss/joint_bound.hpp"
#include "sotto/loss/slope_bound.hpp"
#include "sotto/optimizer/second_order/scout.hpp"

namespace sotto {

std::optional<Certificate> Scout::certify(const Vector& w) {
  if (reserve_ <= 0) return std::nullopt;
  auto certificate = certify_now(w);
  if (certificate) return *std::move(certificate);
  Certificate refused;
  refused.confidence = options_.certificate_confidence;
  refused.gradient_tolerance = *options_.gradient_tolerance;
  refused.curvature_tolerance = *options_.curvature_tolerance;
  refused.verdict = Certificate::Verdict::kRefused;
  refused.reason = with_flags(certificate.error().message);  // it goes into files
  return refused;
}

Expected<Certificate> Scout::certify_now(const Vector& w) {
  const PublicProblem& p = problem_;
  if (!bounded_ ||
      gradient_bound(p.loss, p.row_norm, w.norm()) > *options_.clip_radius * (1 + 1e-9))
    return fail(ErrorKind::kUsage,
                "per-unit gradients may be clipped at this point, so that their sum may not be the "
                "objective's gradient. Declare a row norm, or raise the clip radius to the loss's "
                "bound.");
  Certificate c;
  c.confidence = options_.certificate_confidence;
  c.gradient_tolerance = *options_.gradient_tolerance;
  c.curvature_tolerance = *options_.curvature_tolerance;
  const double floor = certain_floor(p);
  c.curvature_by_algebra = options_.curvature_floor && floor >= -c.curvature_tolerance;
  if (!c.curvature_by_algebra &&
      hessian_bound(p.loss, p.row_norm, w.norm()) > *options_.hessian_clip * (1 + 1e-9))
    return fail(ErrorKind::kUsage,
                "per-unit Hessians may be clipped at this point, so that nothing valid can be said "
                "about the smallest eigenvalue.");
  if (!c.curvature_by_algebra && lanczos() && options_.test_products < p.dimension &&
      p.relation == Relation::kAddRemove)
    return fail(ErrorKind::kUsage,
                "under add-remove the number of units has no bound, nor have the eigenvalues, and "
                "so many products say nothing certain about the smallest. Take ‘solver dense’.");

  // The whole reserve, and nothing else of the budget.
  const double share = reserve_;
  reserve_ = 0;
  spent_ = std::min(spent_, 1 - share);
  const double miss = (1 - options_.certificate_confidence) / (c.curvature_by_algebra ? 1 : 2);
  const double for_gradient = c.curvature_by_algebra ? 0.98 * share : 0.7 * share;
  SOTTO_ASSIGN(const Look look, slope_with(w, multiplier_of_share(for_gradient), Sampling::full()));
  c.gradient_norm = look.norm;
  c.gradient_upper = norm_upper_bound(look.norm, look.sigma, p.dimension, miss);
  c.gradient_floor = look.sigma > 0 ? norm_upper_bound(0, look.sigma, p.dimension, miss) : 0;
  c.curvature_lower = floor;
  if (!c.curvature_by_algebra) {
    SOTTO_ASSIGN(const double z, buy(multiplier_of_share(0.25 * share), Sampling::full()));
    SOTTO_ASSIGN(const CurvatureLook H, hessian_with(w, z, Sampling::full(), miss));
    c.curvature_floor = H.margin;
    c.curvature_lower = std::max(floor, H.lower());
  }
  decide(c);
  return c;
}

}  // namespace sotto
