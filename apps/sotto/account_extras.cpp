#include "account_extras.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/file.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/accountant/pld.hpp"
#include "sotto/privacy/number_json.hpp"
#include "sotto/report/page.hpp"

namespace sotto::app {
namespace {

constexpr int kPoints = 200;

/// Where delta has become as good as nothing: the curve's right end.
Expected<double> interesting_epsilon(const CanonicalEvent& event) {
  SOTTO_ASSIGN(const double epsilon, pld_accountant().epsilon_upper(event, 1e-12));
  return std::isfinite(epsilon) ? std::max(epsilon, 1e-3) : 10;
}

}  // namespace

Expected<int> account_curve(const Event& event,
                            const std::string& neighbours,
                            std::optional<double> largest_epsilon,
                            const std::string& html_path) {
  SOTTO_ASSIGN(const CanonicalEvent terms, canonical(event));
  SOTTO_TRY(pld_accountant().supports(terms));
  double largest = 0;
  if (largest_epsilon) {
    largest = *largest_epsilon;
  } else {
    SOTTO_ASSIGN(largest, interesting_epsilon(terms));
  }
  SOTTO_ASSIGN(const ComposedLoss loss, ComposedLoss::compose(terms, largest));

  Chart delta{"Delta over epsilon", "epsilon", "delta", true, {{"upper bound"}, {"lower bound"}}};
  Chart errors{"Trade-off: what an attacker's test can reach at best",
               "type I error",
               "type II error, at least",
               false,
               {{"this release"}, {"no information at all"}}};
  nlohmann::json deltas = nlohmann::json::array();
  nlohmann::json trade_off = nlohmann::json::array();
  for (int k = 0; k <= kPoints; ++k) {
    const double share = static_cast<double>(k) / kPoints;
    const double epsilon = largest * share;
    const Interval at = loss.delta(epsilon);
    deltas.push_back({{"epsilon", epsilon}, {"delta_lower", at.lower}, {"delta_upper", at.upper}});
    if (at.upper > 0) delta.series[0].points.emplace_back(epsilon, at.upper);
    if (at.lower > 0) delta.series[1].points.emplace_back(epsilon, at.lower);
    const double beta = loss.trade_off(share);
    trade_off.push_back({{"type_1", share}, {"type_2", beta}});
    errors.series[0].points.emplace_back(share, beta);
    errors.series[1].points.emplace_back(share, 1 - share);
  }
  if (html_path.empty()) {
    print_json(nlohmann::json({{"event", to_string(event)},
                               {"neighbours", neighbours},
                               {"curve", deltas},
                               {"trade_off", trade_off}}));
    return kSuccess;
  }
  Page page("What a release costs", to_string(event) + " under " + neighbours);
  delta.note =
      "For each epsilon, the delta at which the release is (epsilon, delta)-private; the true "
      "value lies between the two lines.";
  errors.note =
      "The same fact for an attacker who must decide whether a given person was in the data: no "
      "test is better than the line.";
  page.chart(delta).chart(errors);
  SOTTO_TRY(write_file_atomically(html_path, page.html()));
  tell("{} written\n", html_path);
  return kSuccess;
}

Expected<int> account_formula(const std::string& method,
                              const study::FormulaInputs& inputs,
                              bool json) {
  SOTTO_ASSIGN(const study::Formula formula, study::paper_formula(method, inputs));
  SOTTO_ASSIGN(const CanonicalEvent terms, canonical(formula.event));
  SOTTO_ASSIGN(const Accountant* accountant, tightest_accountant(terms));
  SOTTO_ASSIGN(const double spent, accountant->epsilon_upper(terms, inputs.delta));
  const auto& proof = formula.proof;
  if (json) {
    nlohmann::json own;
    if (proof)
      own = {{"lemma", proof->lemma},
             {"epsilon", number_or_null(proof->epsilon)},
             {"order", proof->order},
             {"order_needed", proof->needed}};
    print_json(nlohmann::json({{"method", method},
                               {"claimed", inputs.epsilon},
                               {"delta", inputs.delta},
                               {"neighbours", to_string(inputs.relation)},
                               {"noise", formula.noise},
                               {"noise_meaning", formula.noise_meaning},
                               {"noise_multiplier", formula.noise_multiplier},
                               {"event", to_string(formula.event)},
                               {"epsilon_spent", number_or_null(spent)},
                               {"accountant", accountant->name()},
                               {"paper_proof", own},
                               {"source", formula.source},
                               {"trap", formula.trap}}));
    return kSuccess;
  }
  tell("{} as printed in {}\n", method, formula.source);
  tell("  noise      {:.6g} ({})\n", formula.noise, formula.noise_meaning);
  tell("  releases   {} ({})\n", to_string(formula.event), to_string(inputs.relation));
  tell("  claims     epsilon {} at delta {}\n", inputs.epsilon, inputs.delta);
  tell("  spends     epsilon {} ({}): {}\n",
       text_up(spent),
       accountant->name(),
       spent > inputs.epsilon ? "MORE than claimed"
                              : fmt::format("{:.2g} of what it claims", spent / inputs.epsilon));
  if (proof)
    tell(
        "  its proof  epsilon {:.6g} by {} for replaced records, at order {:.4g}; the claim "
        "needs order {:.4g}\n",
        proof->epsilon,
        proof->lemma,
        proof->order,
        proof->needed);
  if (!formula.trap.empty()) tell("  note       {}\n", formula.trap);
  return kSuccess;
}

}  // namespace sotto::app
