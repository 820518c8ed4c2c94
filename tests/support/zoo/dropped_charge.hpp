#pragma once

// Run records for `sotto verify`: one that holds together, and its broken twin.

#include <nlohmann/json.hpp>

#include "sotto/privacy/accountant/pld.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto::testing::zoo {

/// 100 Poisson steps, drawn, charged and priced.
inline nlohmann::json consistent_record() {
  constexpr double kRecordDelta = 1e-5;
  constexpr std::int64_t kSamples = 1000;
  const Event event =
      Event::repeat(100, Event::poisson(0.1, Event::gaussian(4, Relation::kZeroOut)));
  const double epsilon =
      epsilon_with_samples(canonical(event).value(), kSamples, kRecordDelta, pld_accountant())
          .value();
  // Its plan is tried out in tests, so its settings are none from which it could be made again: of
  // a version that is not ours, which may have had such ones.
  const nlohmann::json by_hand = {{{"name", "steps"}, {"value", "by hand"}, {"origin", "given"}}};
  return {{"sotto_run", 1},
          {"version", "0.1.99"},
          {"method", "dp-sgd"},
          {"loss", "logistic"},
          {"regularizer", "none"},
          {"settings", by_hand},
          {"dimension", 10},
          {"steps", 100},
          {"passes", 10.0},
          {"gradient_evaluations", 2000.0},
          {"noise_multiplier", 4.0},
          {"stopped", "plan complete"},
          {"warnings", nlohmann::json::array()},
          {"private", true},
          {"epsilon_spent", epsilon},
          {"epsilon_planned", epsilon},
          {"epsilon_budget", epsilon},
          {"delta", kRecordDelta},
          {"neighbours", "zero-out"},
          {"privacy",
           {{"private", true},
            {"unit", "row"},
            {"public_n", 200},
            {"insecure_seed", false},
            {"unsafe_diagnostics", false},
            {"test_declared_public", false},
            {"epsilon", epsilon},
            {"delta", kRecordDelta},
            {"neighbours", "zero-out"},
            {"accountant", "pld"},
            {"rule", "plan"},
            {"events", to_string(event)},
            {"noise_samples", kSamples}}},
          {"plan", to_string(event)},
          {"planned_noise_samples", kSamples},
          {"drawn", {{{"sampling", "poisson(0.1)"}, {"count", 100}}}},
          {"insecure_seed", false},
          {"unsafe_diagnostics", false}};
}

/// The sampler drew twice as many batches as were charged.
inline nlohmann::json dropped_charge() {
  nlohmann::json record = consistent_record();
  record["drawn"][0]["count"] = 200;
  return record;
}

}  // namespace sotto::testing::zoo
