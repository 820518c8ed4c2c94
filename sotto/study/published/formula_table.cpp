#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/study/published/evaluators.hpp"

namespace sotto::study {
namespace {

/// A published formula: its name in study files, the method that `sotto account --formula` knows it
/// by, whether that one reads batches, and its text for pages.
struct Row {
  FormulaInfo info;
  PublishedNoise (*noise)(const NoiseFacts&);  ///< null: no run uses it
  std::string_view method = {};
  Formula (*priced)(const FormulaInputs&) = nullptr;  ///< null: not what a method prints
  bool sampled = false;
};

const std::vector<Row>& table() {
  using namespace published;
  static const std::vector<Row> all = {
      {{"wyx17", "[WYX17]", "σ² = 8G²T ln(1/δ)/(n²ε²); the constant is not printed"},
       wyx17,
       "dp-gd",
       dp_gd},
      {{"wx19-printed", "[WX19] Alg. 1", "σ² = 2G²T/(n²ρ²), as printed"},
       wx19_printed,
       "dp-pgd",
       dp_pgd},
      {{"wx19", "[WX19]", "σ² = 2G²T/(n²ρ), what its text derives"}, wx19},
      {{"wx19-selection", "[WX19] Alg. 4", "ε/√(8T ln(1/δ)) for each selection"},
       nullptr,
       "dp-fw-l1",
       dp_fw_l1},
      {{"advanced", "[DR14]", "advanced composition"}, advanced},
      {{"moments-grid", "[ACGMMTZ16]", "moments at whole orders up to 64"}, moments_grid},
      {{"zzmw17", "[ZZMW17]", "σ² = 32G²T ln(T/δ)ln(1/δ)/(n²ε²)"}, zzmw17, "rrpsgd", rrpsgd},
      {{"wjeg23", "[WJEG23]", "σ² = 14TS²α/(βn²ε), best β"}, wjeg23, "dp-srm", dp_srm, true},
      {{"adp21", "[ADP21]", "σ² = G² ln(16T/(nδ))ln(1.25/δ)Σα⁻²/(n²ε²)"},
       adp21,
       "adp-sgd",
       adp_sgd,
       true},
      {{"gw23", "[GW23]", "σ = √(kT/(2ρ)), sensitivities 2/n and 2√d/n"}, gw23, "opt", opt},
      {{"gw23-batches", "[GW23], public code", "noise for the mean over n on a mean over b, ρ = 1"},
       gw23_batches},
      {{"wx20-tr", "[WX20] Alg. 1", "σ² = 4G²T/(n²φ), 4dM²T/(n²φ)"}, wx20_tr, "dp-tr", dp_tr},
      {{"wx20-str", "[WX20] Alg. 2", "σ² = 256G² ln(5T/δ)ln(2/δ)/(n²ε²), dT times that"},
       wx20_str,
       "dp-str",
       dp_str,
       true},
      {{"wcx19-code", "[WCX19], public code", "σ = √(T ln 1/δ)/ε sensitivities, three releases"},
       wcx19_code},
      {{"lk18-code", "[LK18], public code", "argmin(loss + Exp) for step lengths"}, lk18_code},
  };
  return all;
}

Expected<void> require(bool holds, std::string_view name, double value, std::string_view rule) {
  if (holds) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("{} must be {} for this formula, but is {}.", name, rule, value));
}

Expected<void> check_inputs(const FormulaInputs& in, bool needs_batch) {
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  SOTTO_TRY(require(in.n >= 1, "n", number(in.n), ">= 1"));
  SOTTO_TRY(require(in.steps >= 1 && in.steps <= 100'000'000'000'000,
                    "steps",
                    number(in.steps),
                    "between 1 and 1e14"));
  SOTTO_TRY(require(
      in.epsilon > 0 && std::isfinite(in.epsilon), "epsilon", in.epsilon, "finite and > 0"));
  SOTTO_TRY(require(in.delta > 0 && in.delta < 1, "delta", in.delta, "in (0, 1)"));
  SOTTO_TRY(require(in.clip_radius > 0 && std::isfinite(in.clip_radius),
                    "clip_radius",
                    in.clip_radius,
                    "finite and > 0"));
  SOTTO_TRY(require(in.constant > 0, "constant", in.constant, "> 0"));
  SOTTO_TRY(require(in.beta > 0 && in.beta < 1, "beta", in.beta, "in (0, 1)"));
  if (needs_batch) {
    SOTTO_TRY(
        require(in.batch >= 1 && in.batch <= in.n, "batch", number(in.batch), "between 1 and n"));
  }
  return {};
}

}  // namespace

const std::vector<std::string_view>& formula_methods() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Row& row : table())
      if (row.priced) all.push_back(row.method);
    return all;
  }();
  return names;
}

Expected<Formula> paper_formula(std::string_view method, const FormulaInputs& inputs) {
  for (const Row& row : table()) {
    if (!row.priced || row.method != method) continue;
    SOTTO_TRY(check_inputs(inputs, row.sampled));
    return row.priced(inputs);
  }
  return fail(
      ErrorKind::kUsage,
      fmt::format("no formula for '{}'. Known: {}.", method, fmt::join(formula_methods(), ", ")));
}

Expected<PublishedNoise> published_noise(std::string_view formula, const NoiseFacts& facts) {
  std::string names;
  for (const auto& row : table()) {
    if (!row.noise) continue;
    if (row.info.name == formula) {
      if (!(facts.epsilon > 0 && facts.delta > 0 && facts.steps >= 1))
        return fail(
            ErrorKind::kBadData,
            fmt::format("the formula {} needs epsilon, delta and a number of steps.", formula));
      return row.noise(facts);
    }
    names += (names.empty() ? "" : ", ") + row.info.name;
  }
  return fail(ErrorKind::kBadData,
              fmt::format("there is no published formula '{}'. Known: {}.", formula, names));
}

const std::vector<FormulaInfo>& published_formulas() {
  static const std::vector<FormulaInfo> all = [] {
    std::vector<FormulaInfo> infos;
    for (const auto& row : table()) infos.push_back(row.info);
    return infos;
  }();
  return all;
}

}  // namespace sotto::study
