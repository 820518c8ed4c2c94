#pragma once

#include <string>

#include "sotto/record/run_record.hpp"

namespace sotto::testing {

/// A private run of 40 full-batch steps with every part that a report can show.
inline RunRecord sample_record() {
  RunRecord record;
  record.version = "0.1.0";
  record.versions = {{"sotto", "0.1.0"}, {"compiler", "g++ 12"}};
  record.method = "dp-gd";
  record.privacy.is_private = true;
  record.privacy.epsilon = 0.9182;
  record.privacy.delta = 1e-5;
  record.privacy.unit = "row";
  record.privacy.public_n = 32561;
  record.privacy.accountant = "gaussian";
  record.privacy.rule = "plan";
  record.privacy.events = "repeat(40, gaussian(30))";
  record.privacy.noise_samples = 4920;
  record.plan = "repeat(50, gaussian(30))";
  record.planned_samples = 6150;
  record.epsilon_budget = 1;
  record.epsilon_planned = 0.99999;
  record.epsilon_lower = 0.91819;
  record.noise_multiplier = 30;
  record.drawn = {{"full", 40}};
  record.settings = {{"steps", "50", Origin::kGiven},
                     {"clip_radius", "1.8735", Origin::kRule},
                     {"momentum", "0", Origin::kDefault}};
  record.options = {{"epsilon", "1", Origin::kGiven, "Privacy"},
                    {"loss", "logistic", Origin::kDefault, "Model"}};
  record.loss = "logistic";
  record.regularizer = "none";
  record.dimension = 123;
  record.steps = 40;
  record.passes = 40;
  record.gradient_evaluations = 40 * 32561.0;
  record.stopped = StopReason::kStoppedEarly;
  record.warnings = {"delta 1e-05 is close to 1/n."};
  record.command = {"train", "--epsilon", "1", "my data.svm", "model.json"};
  record.class_names = {"poor", "rich"};
  for (int step = 1; step <= 40; ++step) {
    record.trace.push_back({step, 0.5, 1.0 / step, double(step)});
    if (step % 10 != 0) continue;
    const CanonicalEvent events =
        *canonical(Event::repeat(step, Event::gaussian(30, Relation::kZeroOut)));
    record.spending.push_back({step, double(step), events, 123 * step, 0.02 * step, {}});
    record.test_curve.push_back({step, double(step), 0.7 - 0.005 * step, 0.75 + 0.002 * step});
  }
  Metrics metrics;
  metrics.rows = 1000;
  metrics.accuracy = 0.835;
  metrics.auc = 0.91;
  metrics.loss = 0.35;
  metrics.objective = 0.36;
  metrics.confusion = {{{600, 65}, {100, 235}}};
  record.test = metrics;
  return record;
}

}  // namespace sotto::testing
