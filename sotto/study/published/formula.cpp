#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/study/published/evaluators.hpp"

namespace sotto::study {
namespace published {
namespace {

// Noise in units of one record's largest contribution, as a multiplier of the sensitivity.
double multiplier(const FormulaInputs& in, double noise_over_radius) {
  return noise_over_radius / sum_sensitivity(in.relation, 1);
}

Event sampled(const FormulaInputs& in, std::int64_t batch, double noise_multiplier) {
  Event inner = Event::gaussian(noise_multiplier, in.relation);
  if (in.sampling == Sampling::Kind::kFixedSize) {
    return Event::fixed_size(batch, in.n, std::move(inner));
  }
  return Event::poisson(static_cast<double>(batch) / static_cast<double>(in.n), std::move(inner));
}

constexpr const char* kOnMeanGradient = "standard deviation on the mean gradient";

}  // namespace

Formula dp_gd(const FormulaInputs& in) {
  const double n = static_cast<double>(in.n);
  const double steps = static_cast<double>(in.steps);
  const double on_sum =
      std::sqrt(in.constant * steps * std::log(1 / in.delta)) / in.epsilon;  // in units of G
  const double z = multiplier(in, on_sum);
  return {on_sum * in.clip_radius / n,
          kOnMeanGradient,
          z,
          Event::repeat(in.steps, Event::gaussian(z, in.relation)),
          "[WYX17] c G^2 T ln(1/delta) / (n epsilon)^2",
          "the constant c is not stated; 4 is the choice sigma = sensitivity sqrt(T ln(1/delta)) / "
          "epsilon of public code, which spends more than epsilon"};
}

Formula dp_pgd(const FormulaInputs& in) {
  const double rho = zcdp_of(in.epsilon, in.delta);
  const double on_sum = std::sqrt(2 * static_cast<double>(in.steps)) / rho;
  const double z = multiplier(in, on_sum);
  return {
      on_sum * in.clip_radius / static_cast<double>(in.n),
      kOnMeanGradient,
      z,
      Event::repeat(in.steps, Event::gaussian(z, in.relation)),
      "[WX19] Algorithm 1, step 3: 2 L^2 T / (n rho)^2",
      "rho^2 is printed where rho is meant (and L where G is): too much noise while rho < 1, and "
      "too little beyond (T6)"};
}

Formula dp_tr(const FormulaInputs& in) {
  const double on_sum =
      2 * std::sqrt(static_cast<double>(in.steps) / zcdp_of(in.epsilon, in.delta));
  const double z = multiplier(in, on_sum);
  return {on_sum * in.clip_radius / static_cast<double>(in.n),
          kOnMeanGradient,
          z,
          Event::repeat(2 * in.steps, Event::gaussian(z, in.relation)),
          "[WX20] Algorithm 1: 4 G^2 T / (n^2 phi), and 4 p M^2 T / (n^2 phi) on the Hessian",
          "correct for 2 T releases; loose only by its conversion of zCDP"};
}

Formula dp_str(const FormulaInputs& in) {
  const double n = static_cast<double>(in.n);
  const double steps = static_cast<double>(in.steps);
  const double batch = static_cast<double>(in.batch);
  const double logs = std::log(5 * steps / in.delta) * std::log(2 / in.delta);
  const double on_mean = 16 * std::sqrt(logs) / (n * in.epsilon);  // in units of G
  const double z_gradient = multiplier(in, on_mean * batch);
  const double z_hessian = z_gradient * std::sqrt(steps);
  return {
      on_mean * in.clip_radius,
      "standard deviation on the batch's mean gradient",
      z_gradient,
      Event::compose({Event::repeat(in.steps, sampled(in, in.batch, z_gradient)),
                      Event::repeat(in.steps, sampled(in, in.batch, z_hessian))}),
      "[WX20] Algorithm 2: 256 G^2 ln(5T/delta) ln(2/delta) / (n epsilon)^2; times T p M^2 / G^2 "
      "on the Hessian",
      "the factor T is missing from the gradient's noise, and 256 should be 512: private only "
      "while strong composition is loose enough, no longer for many steps (T10)"};
}

Formula opt(const FormulaInputs& in) {
  const double releases = in.line_search ? 3 : 2;
  const double z =
      std::sqrt(releases * static_cast<double>(in.steps) / (2 * zcdp_of(in.epsilon, in.delta)));
  std::vector<Event> parts = {Event::repeat(2 * in.steps, Event::gaussian(z, in.relation))};
  if (in.line_search) {
    parts.push_back(Event::repeat(in.steps, Event::sparse_vector(1 / z, in.relation)));
  }
  return {z * sum_sensitivity(in.relation, in.clip_radius) / static_cast<double>(in.n),
          kOnMeanGradient,
          z,
          Event::compose(std::move(parts)),
          "[GW23] sigma = sqrt(k T / (2 rho)) for k releases per step",
          "correct for the full batch; its mini-batch variants scale the noise by the sensitivity "
          "of the full batch and are not at the stated epsilon (T13)"};
}

Formula dp_srm(const FormulaInputs& in) {
  const double n = static_cast<double>(in.n);
  const double order = std::log(1 / in.delta) / ((1 - in.beta) * in.epsilon) + 1;
  const double on_mean =
      std::sqrt(14 * static_cast<double>(in.steps) * order / (in.beta * in.epsilon)) /
      n;  // in units of S
  const double z = multiplier(in, on_mean * static_cast<double>(in.batch));
  // The lemma is about a replaced record, whose sensitivity is 2.
  const double replaced = on_mean * static_cast<double>(in.batch) / 2;
  PaperProof proof = lemma_of_wjeg23(in.steps + 1, in.batch, in.n, replaced, in.delta);
  proof.needed = order;
  return {on_mean * in.clip_radius,
          "standard deviation on the batch's mean step",
          z,
          Event::repeat(in.steps + 1, sampled(in, in.batch, z)),
          "[WJEG23] Theorem 5.1: 14 T S^2 alpha / (beta n^2 epsilon)",
          "the lemma behind it does not hold at the paper's own settings, and T + 1 releases are "
          "budgeted as T; the noise is nevertheless far more than needed (T4, T5)",
          proof};
}

Formula adp_sgd(const FormulaInputs& in) {
  const double n = static_cast<double>(in.n);
  const double steps = static_cast<double>(in.steps);
  const double logs = std::log(16 * steps / (n * in.delta)) * std::log(1.25 / in.delta);
  const double on_mean = std::sqrt(logs * steps) / (n * in.epsilon);  // in units of G, alpha_t = 1
  const double z = multiplier(in, on_mean * static_cast<double>(in.batch));
  return {
      on_mean * in.clip_radius,
      "standard deviation on the batch's mean gradient, for weights alpha_t = 1",
      z,
      Event::repeat(in.steps, sampled(in, in.batch, z)),
      "[ADP21] (16 G)^2 ln(16 T/(n delta)) ln(1.25/delta) sum alpha_t^-2 / (n epsilon')^2 with its "
      "footnote's epsilon' = 16 epsilon",
      "derived for one record a step, used with batches (T23); its AdaGrad-norm variant is not "
      "private at all (T18)"};
}

Formula rrpsgd(const FormulaInputs& in) {
  const double n = static_cast<double>(in.n);
  const double on_record =
      std::sqrt(32 * std::log(n / in.delta) * std::log(1 / in.delta)) / in.epsilon;
  const double z = multiplier(in, on_record);
  return {on_record * in.clip_radius,
          "standard deviation on one record's gradient",
          z,
          Event::repeat(in.steps, sampled(in, 1, z)),
          "[ZZMW17] 32 G^2 ln(n/delta) ln(1/delta) / epsilon^2, one record a step, for n^2 steps",
          "other papers quote it without its factor G^2 T (T6); n^2 steps are never run"};
}

Formula dp_fw_l1(const FormulaInputs& in) {
  const double epsilon =
      in.epsilon / std::sqrt(8 * static_cast<double>(in.steps) * std::log(1 / in.delta));
  return {
      epsilon,
      "epsilon of one selection",
      0,
      Event::repeat(in.steps, Event::exponential(epsilon, in.relation)),
      "[WX19] Algorithm 4: epsilon / sqrt(8 T ln(1/delta))",
      "strong composition of pure DP; the exponential mechanism has bounded range, which is worth "
      "a factor of about 4"};
}

}  // namespace published

PaperProof lemma_of_wjeg23(
    std::int64_t releases, std::int64_t b, std::int64_t n, double z, double delta) {
  PaperProof proof{"[WJEG23] Lemma 3.7", std::numeric_limits<double>::infinity()};
  const double rate = static_cast<double>(b) / static_cast<double>(n);
  const double square = z * z;
  if (square < 0.7) return proof;
  // The condition's right-hand side falls in the order: it holds up to one order and not beyond.
  const auto holds = [&](double order) {
    return order <= 1 + 2 * square / 3 * std::log(1 / (rate * order * (1 + square)));
  };
  if (!holds(1 + 1e-12)) return proof;
  double most = 2;
  while (holds(most)) most *= 2;
  double least = 1;
  for (int k = 0; k < 200; ++k) (holds((least + most) / 2) ? least : most) = (least + most) / 2;
  // releases * 3.5 rate^2 order / z^2 + ln(1/delta) / (order - 1) is least where its derivative is
  // 0, and falls before.
  const double slope = static_cast<double>(releases) * 3.5 * rate * rate / square;
  proof.order = std::min(least, 1 + std::sqrt(std::log(1 / delta) / slope));
  proof.epsilon = slope * proof.order + std::log(1 / delta) / (proof.order - 1);
  return proof;
}

}  // namespace sotto::study
