#include "evaluation_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "printer.hpp"
#include "sotto/core/numbers.hpp"
#include "summary.hpp"

namespace sotto::app {
namespace {

using Cut = TwoClassScores::Cut;

std::string four_digits(const std::optional<double>& value) {
  return value ? fmt::format("{:.4f}", *value) : "-";
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

double share(std::int64_t count, std::int64_t of) {
  return static_cast<double>(count) / static_cast<double>(of);
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

void print_reliability(const TwoClassScores::Probabilities& probabilities) {
  tell("\nreliability: rows by predicted probability, observed share with its 95 % interval\n");
  tell("{:>10} {:>10} {:>18} {:>10}\n", "predicted", "observed", "interval", "rows");
  for (const auto& group : probabilities.groups) {
    const auto [low, high] = share_interval(group.positives, group.rows);
    tell("{:>10} {:>10.4f}   {:.4f} to {:.4f} {:>10}{}\n",
         // A small risk is not none.
         group.predicted < 0.001 ? fmt::format("{:.2g}", group.predicted)
                                 : fmt::format("{:.4f}", group.predicted),
         group.observed(),
         low,
         high,
         group.rows,
         group.predicted < low    ? "   predicted too low"
         : group.predicted > high ? "   predicted too high"
                                  : "");
  }
}

void print_thresholds(const Evaluation& e) {
  const TwoClassScores& scores = *e.two;
  tell("\nthresholds: rows at or above one are flagged as {}\n", e.class_names[1]);
  tell("{:>10} {:>12} {:>10} {:>10} {:>10}\n",
       scores.probabilities ? "threshold" : "score",
       "flagged",
       "share",
       "precision",
       "recall");
  const auto line = [&](const Cut& cut, const char* note) {
    tell("{:>10} {:>12} {:>10} {:>10} {:>10}{}\n",
         cut.told,
         cut.flagged,
         percent(share(cut.flagged, scores.rows)),
         four_digits(scores.precision(cut)),
         four_digits(scores.recall(cut)),
         note);
  };
  for (const int each : kFlaggedPercents) line(scores.at_percent(each), "");
  line(scores.own, "   (what `predict` does: above it)");
}

void print_two(const Evaluation& e) {
  const TwoClassScores& scores = *e.two;
  tell("AUC {}, PR-AUC {} (by chance 0.5 and {:.4g})\n",
       four_digits(scores.auc),
       four_digits(scores.average_precision),
       scores.share());
  if (const auto& p = scores.probabilities) {
    tell("log loss {:.6f} (by chance {:.6f}), Brier score {:.6f}\n",
         p->log_loss,
         log_loss_of_shares(e.confusion),
         p->brier);
    tell("mean prediction {:.4g}, observed share {:.4g}\n", p->mean, scores.share());
    print_reliability(*p);
  } else {
    tell(
        "not told, because the loss {} has no probabilities: log loss, Brier score, mean "
        "prediction, reliability\n",
        e.loss);
  }
  print_thresholds(e);
}

void print_many(const Evaluation& e) {
  tell("log loss {:.6f} (by chance {:.6f}), Brier score {:.6f} (sum over classes)\n",
       e.many->log_loss,
       log_loss_of_shares(e.confusion),
       e.many->brier);
  tell("\n{:>10} {:>10}   {}\n", "AUC", "rows", "class against all others");
  for (std::size_t c = 0; c < e.class_names.size(); ++c)
    tell("{:>10} {:>10}   {}\n",
         four_digits(e.many->auc[c]),
         rows_of(e.confusion, c),
         e.class_names[c]);
}

nlohmann::json to_json(const TwoClassScores& scores) {
  nlohmann::json json = {{"auc", or_null(scores.auc)},
                         {"average_precision", or_null(scores.average_precision)},
                         {"observed_share", scores.share()}};
  for (const char* name : {"log_loss", "brier", "mean_prediction", "reliability"})
    json[name] = nullptr;
  if (const auto& p = scores.probabilities) {
    json["log_loss"] = p->log_loss;
    json["brier"] = p->brier;
    json["mean_prediction"] = p->mean;
    json["reliability"] = nlohmann::json::array();
    for (const auto& group : p->groups) {
      const auto [low, high] = share_interval(group.positives, group.rows);
      json["reliability"].push_back({{"rows", group.rows},
                                     {"predicted", group.predicted},
                                     {"observed", group.observed()},
                                     {"low", low},
                                     {"high", high}});
    }
  }
  json["thresholds_are"] = scores.probabilities ? "probabilities" : "scores";
  json["thresholds"] = nlohmann::json::array();
  const auto add = [&](const Cut& cut, const nlohmann::json& asked) {
    json["thresholds"].push_back({{"asked_share", asked},
                                  {"threshold", cut.told},
                                  {"flagged", cut.flagged},
                                  {"share", share(cut.flagged, scores.rows)},
                                  {"precision", or_null(scores.precision(cut))},
                                  {"recall", or_null(scores.recall(cut))}});
  };
  for (const int each : kFlaggedPercents) add(scores.at_percent(each), each / 100.0);
  add(scores.own, nullptr);
  return json;
}

/// Why the model never predicts one of two classes, and which threshold would.
std::string remedy_text(const Evaluation& e, std::size_t c) {
  const TwoClassScores& scores = *e.two;
  const Cut& extreme = c == 1 ? scores.cuts.front() : scores.cuts.back();
  std::string text = fmt::format(
      "The {} {} is {:.4g}. ",
      c == 1 ? "highest" : "lowest",
      scores.probabilities ? fmt::format("probability of {}", e.class_names[1])
                           : std::string("score"),
      scores.probabilities ? 1 / (1 + std::exp(-extreme.threshold)) : extreme.threshold);
  if (c == 0) return text + "Raise the threshold above it.";
  const Cut& some = scores.at_percent(10);
  return text +
         fmt::format("Lower the threshold: {} flags {} of the rows, with precision {}",
                     some.told,
                     percent(share(some.flagged, scores.rows)),
                     four_digits(scores.precision(some))) +
         (scores.probabilities ? ", and `sotto predict --threshold` flags them. If all "
                                 "probabilities are too low, `sotto recalibrate` mends them. "
                               : ". ") +
         kWeighClasses;
}

}  // namespace

void print_evaluation(const Evaluation& e) {
  if (const auto& errors = e.numbers) {
    tell("RMSE {:.6g}, MAE {:.6g}, R^2 {}, bias {:.6g} ({} rows)\n",
         errors->rmse,
         errors->mae,
         four_digits(errors->r_squared),
         errors->bias,
         e.rows);
    if (const auto& counts = e.counts)
      tell("deviance {:.6g} (Poisson, mean per row), {} of that of the mean count explained\n",
           counts->deviance,
           counts->explained ? percent(*counts->explained) : "-");
    return;
  }
  tell("{}\n", accuracy_text(e.confusion, e.class_names));
  if (e.two) print_two(e);
  if (e.many) print_many(e);
  tell("\n");
  print_confusion(e.confusion, e.class_names);
}

nlohmann::json to_json(const Evaluation& e) {
  nlohmann::json json = {{"rows", e.rows}, {"loss", e.loss}};
  if (const auto& errors = e.numbers) {
    json["rmse"] = errors->rmse;
    json["mae"] = errors->mae;
    json["bias"] = errors->bias;
    json["r_squared"] = or_null(errors->r_squared);
    if (const auto& counts = e.counts) {
      json["deviance"] = counts->deviance;
      json["deviance_explained"] = or_null(counts->explained);
    }
    return json;
  }
  if (e.two) json.update(to_json(*e.two));
  json["classes"] = e.class_names;
  json["confusion"] = e.confusion;
  json["accuracy"] = share(rows_right(e.confusion), e.rows);
  json["majority"] = {{"class", e.class_names[majority_class(e.confusion)]},
                      {"share", share(rows_of(e.confusion, majority_class(e.confusion)), e.rows)}};
  json["never_predicted"] = nlohmann::json::array();
  for (const std::size_t c : never_predicted(e.confusion))
    json["never_predicted"].push_back(e.class_names[c]);
  json["log_loss_by_chance"] = log_loss_of_shares(e.confusion);
  if (!e.many) return json;
  json["log_loss"] = e.many->log_loss;
  json["brier"] = e.many->brier;
  json["auc"] = nlohmann::json::array();
  for (const auto& auc : e.many->auc) json["auc"].push_back(or_null(auc));
  return json;
}

std::vector<std::string> warnings_of(const Evaluation& e) {
  std::vector<std::string> warnings;
  for (const std::size_t c : never_predicted(e.confusion))
    warnings.push_back(never_predicted_text(e.confusion, e.class_names, c) + " " +
                       (e.two ? remedy_text(e, c) : kWeighClasses));
  if (const auto log_loss = log_loss_of(e))
    if (const auto text = worse_than_shares_text(*log_loss, e.confusion); !text.empty())
      warnings.push_back(text);
  return warnings;
}

}  // namespace sotto::app
