#include "sotto/study/published/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/study/published/formula.hpp"

namespace sotto::study {
namespace {

/// [ADP21]'s noise and what its Theorem 4.1 says that it costs, for b_t = sqrt(offset + slope t),
/// t = 1, …, T, and alpha_t² = b_t (ADP-SGD) or 1 (DP-SGD).
class AdpRun {
 public:
  AdpRun(std::map<std::string, double> arguments, bool matched)
      : arguments_(std::move(arguments)), matched_(matched), inverse_squares_(steps() + 1, 0.0) {
    for (std::size_t t = 1; t <= steps(); ++t)
      inverse_squares_[t] = inverse_squares_[t - 1] + (matched ? 1 / b(t) : 1);
    sigma_ = for_epsilon(steps(), argument("epsilon"));
  }

  std::size_t steps() const { return static_cast<std::size_t>(argument("steps")); }

  /// Standard deviation of what step t adds to every parameter: eta_t alpha_t sigma with eta = 1.
  double noise(std::size_t t) const { return (matched_ ? std::sqrt(b(t)) : 1) / b(t) * sigma_; }

  /// The theorem's epsilon for the first t steps with this run's sigma.
  double privacy(std::size_t t) const { return for_epsilon(t, 1) / sigma_; }

 private:
  double argument(const char* name) const { return arguments_.at(name); }
  double b(std::size_t t) const {
    return std::sqrt(argument("offset") + argument("slope") * static_cast<double>(t));
  }

  /// sigma of the theorem for t steps at epsilon.
  double for_epsilon(std::size_t t, double epsilon) const {
    FormulaInputs inputs;
    inputs.n = std::llround(argument("n"));
    inputs.steps = static_cast<std::int64_t>(t);
    inputs.epsilon = epsilon;
    inputs.delta = argument("delta");
    inputs.batch = 1;  // the noise on a mean does not depend on it
    inputs.clip_radius = argument("clip_radius");
    const auto formula = paper_formula("adp-sgd", inputs);
    return formula ? formula->noise * std::sqrt(inverse_squares_[t] / static_cast<double>(t)) : 0;
  }

  std::map<std::string, double> arguments_;
  bool matched_;
  std::vector<double> inverse_squares_;  ///< sum of alpha^-2 over the first t steps
  double sigma_ = 0;
};

/// Steps at which a curve is drawn: enough of them on either kind of axis.
std::vector<std::size_t> drawn_steps(std::size_t last, bool log_x) {
  constexpr std::size_t kPoints = 80;
  std::vector<std::size_t> steps;
  for (std::size_t k = 0; k <= kPoints; ++k) {
    const double share = static_cast<double>(k) / kPoints;
    const auto top = static_cast<double>(last);
    // Denser at the start on a linear axis too, where the curves bend.
    const double t = log_x ? std::pow(top, share) : 1 + share * share * share * (top - 1);
    const auto step = static_cast<std::size_t>(std::llround(t));
    if (steps.empty() || step > steps.back()) steps.push_back(step);
  }
  return steps;
}

Chart adp21(const FormulaChartSpec& spec,
            const char* y_label,
            double (AdpRun::*value)(std::size_t) const) {
  Chart chart;
  chart.x_label = "steps";
  chart.y_label = y_label;
  for (const bool matched : {true, false}) {
    const AdpRun run(spec.arguments, matched);
    Chart::Series series;
    series.name = matched ? "ADP-SGD, α² = b" : "DP-SGD, α = 1";
    series.dashed = !matched;
    for (const std::size_t t : drawn_steps(run.steps(), spec.log_x))
      series.points.emplace_back(static_cast<double>(t), (run.*value)(t));
    chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

const std::vector<FormulaInfo>& formula_curves() {
  static const std::vector<FormulaInfo> all = {
      {"adp21-noise",
       "[ADP21] Theorem 4.1",
       "α_t σ/b_t with σ² = G² ln(16T/(nδ))ln(1.25/δ)Σα⁻²/(n²ε²), ε the paper's ε̄"},
      {"adp21-privacy",
       "[ADP21] Theorem 4.1",
       "the ε̄ at which the theorem for t steps asks for the σ that it asks for T steps"},
  };
  return all;
}

Expected<Chart> formula_chart(const FormulaChartSpec& spec) {
  const auto& all = formula_curves();
  if (std::none_of(
          all.begin(), all.end(), [&](const auto& each) { return each.name == spec.formula; })) {
    std::string names;
    for (const auto& each : all) names += (names.empty() ? "" : ", ") + each.name;
    return fail(ErrorKind::kBadData,
                fmt::format("there are no curves '{}'. Known: {}.", spec.formula, names));
  }
  for (const char* name : {"steps", "n", "epsilon", "delta", "clip_radius", "offset", "slope"}) {
    const auto found = spec.arguments.find(name);
    if (found == spec.arguments.end() || !(found->second > 0 && found->second <= 1e7))
      return fail(
          ErrorKind::kBadData,
          fmt::format("{} needs the argument '{}', a number in (0, 1e7].", spec.formula, name));
  }
  if (spec.arguments.at("steps") < 1)
    return fail(ErrorKind::kBadData, fmt::format("{} needs at least one step.", spec.formula));
  Chart chart = spec.formula == "adp21-noise"
                    ? adp21(spec, "noise on a parameter per step", &AdpRun::noise)
                    : adp21(spec, "privacy so far, by the theorem", &AdpRun::privacy);
  chart.title = spec.title;
  chart.log_x = spec.log_x;
  chart.log_y = spec.log_y;
  chart.note = "From formulas: nothing was run.";
  return chart;
}

}  // namespace sotto::study
