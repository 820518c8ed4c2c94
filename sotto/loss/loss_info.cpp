#include "sotto/loss/loss_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/core/nearest.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

// max of p(1-p)|2p-1| over p in [0, 1]: 1 / (6√3).
constexpr double kSigmoidSecond = 0.096225044864937627;
constexpr std::string_view kOwn = "own:";
constexpr std::string_view kRegression = ":regression";
constexpr std::string_view kWeighted = " weighted ";

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

LossInfo unweighted_info(const LossSpec& loss) {
  switch (loss.kind) {
    case LossKind::kLogistic:
      return {LossKind::kLogistic, true, 1, 0, 0.25, kSigmoidSecond, 0.5};
    case LossKind::kSigmoid:
      return {LossKind::kSigmoid, true, 0.25, -kSigmoidSecond, kSigmoidSecond, 0.125, 0.25};
    case LossKind::kSquared:
      return {LossKind::kSquared, false, kInfinity, 1, 1, 0, 1};
    case LossKind::kHuber:
      return {LossKind::kHuber, false, loss.threshold, 0, 1, kInfinity, 1};
    case LossKind::kPhaseRetrieval:
      return {LossKind::kPhaseRetrieval,
              false,
              kInfinity,
              -loss.threshold,
              kInfinity,
              kInfinity,
              2 / (3 * std::sqrt(3.0)) * loss.threshold * std::sqrt(loss.threshold)};
    case LossKind::kPoisson: {
      // Rates and labels lie in [0, M], and the rate's derivative is the rate until it jumps to 0.
      const double M = loss.threshold;
      return {LossKind::kPoisson, false, M, 0, M, kInfinity, M > 1 ? std::sqrt(M) : M};
    }
    case LossKind::kOwn:
      return {LossKind::kOwn,
              loss.own->classification,
              loss.own->sup_first,
              loss.own->inf_second,
              loss.own->sup_second,
              loss.own->sup_third,
              loss.own->typical_first,
              /*proven=*/false};
  }
  SOTTO_CHECK(false && "unknown loss");
}

/// Without a number the threshold is this; a Poisson loss then has none yet.
struct WithThreshold {
  std::string_view name;
  LossKind kind;
  double threshold;
};
constexpr WithThreshold kWithThreshold[] = {
    {"huber", LossKind::kHuber, 1},
    {"phase-retrieval", LossKind::kPhaseRetrieval, 1},
    {"poisson", LossKind::kPoisson, std::numeric_limits<double>::infinity()},
};

Expected<void> check_weights(const LossSpec& loss) {
  const auto& [negative, positive] = loss.weights;
  if (loss.weights == ClassWeights{}) return {};
  if (loss.kind != LossKind::kLogistic && loss.kind != LossKind::kSigmoid) {
    LossSpec plain = loss;
    plain.weights = {};
    return fail(
        ErrorKind::kUsage,
        fmt::format("‘class_weight’ is for classes: the losses logistic and sigmoid, "
                    "multinomial, and networks. The loss {} {}.",
                    to_string(plain),
                    loss.kind == LossKind::kOwn ? "can weigh classes itself" : "predicts numbers"));
  }
  for (const double weight : {negative, positive})
    if (!is_class_weight(weight))
      return fail(ErrorKind::kUsage,
                  fmt::format("a ‘class_weight’ must lie between {:g} and {:g}, but is {}.",
                              kLeastClassWeight,
                              kMostClassWeight,
                              weight));
  return {};
}

Expected<LossSpec> parse_weighted(std::string_view text, std::size_t place) {
  SOTTO_ASSIGN(LossSpec loss, parse_loss(text.substr(0, place)));
  const std::string_view weights = text.substr(place + kWeighted.size());
  const std::size_t comma = std::min(weights.find(','), weights.size());
  const auto negative = finite_in(weights.substr(0, comma));
  const auto positive = finite_in(weights.substr(std::min(comma + 1, weights.size())));
  if (!negative || !positive)
    return fail(ErrorKind::kUsage,
                fmt::format("the class weights of a loss are two numbers, NEGATIVE,POSITIVE, but "
                            "are '{}'.",
                            weights));
  loss.weights = {*negative, *positive};
  SOTTO_TRY(check_weights(loss));
  return loss;
}

}  // namespace

LossInfo weighted(LossInfo loss, double least, double largest) {
  loss.least_weight *= least;
  loss.largest_weight *= largest;
  for (double* bound :
       {&loss.sup_first, &loss.inf_second, &loss.sup_second, &loss.sup_third, &loss.typical_first})
    *bound *= largest;
  return loss;
}

LossInfo loss_info(const LossSpec& loss) {
  const auto& [negative, positive] = loss.weights;
  return weighted(
      unweighted_info(loss), std::min(negative, positive), std::max(negative, positive));
}

double LossInfo::working_second() const {
  return std::isfinite(sup_abs_second()) ? sup_abs_second() : -3 * inf_second;
}

Expected<void> check_loss(const LossSpec& loss) {
  SOTTO_TRY(check_weights(loss));
  if (loss.kind == LossKind::kPoisson && !std::isfinite(loss.threshold))
    return fail(ErrorKind::kUsage,
                "the loss poisson needs a largest rate, a public number that labels and rates are "
                "clamped to. Set ‘loss poisson:RATE’, for example poisson:20, or give a ‘schema’, "
                "whose label has a bound.");
  if (loss.kind != LossKind::kOwn) return {};
  const OwnLoss& own = *loss.own;
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorKind::kUsage, fmt::format("the own loss '{}' {}", own.name, what));
  };
  if (!is_name(own.name))
    return refuse("needs a name of letters, digits and dashes, at most 64 of them.");
  if (!own.computable())
    return refuse(
        "has no functions here: a model file has its name alone. Train and evaluate in the program "
        "that defines value, first and second.");
  if (!(std::isfinite(own.inf_second) && std::isfinite(own.sup_second) && own.sup_second > 0 &&
        own.inf_second <= own.sup_second))
    return refuse(fmt::format(
        "states the bounds {} and {} on its second derivative. Both must be finite, the upper one "
        "above 0 and not below the lower one; where there is none, state one for predictions as "
        "large as labels are.",
        own.inf_second,
        own.sup_second));
  if (!(own.sup_first > 0 && own.sup_third >= 0 && std::isfinite(own.typical_first) &&
        own.typical_first > 0))
    return refuse(fmt::format(
        "states sup_first {}, sup_third {} and typical_first {}. They must be > 0, >= 0, and "
        "finite and > 0.",
        own.sup_first,
        own.sup_third,
        own.typical_first));
  return {};
}

Expected<LossSpec> parse_loss(std::string_view text) {
  if (text == "logistic") return LossSpec{LossKind::kLogistic};
  if (text == "sigmoid") return LossSpec{LossKind::kSigmoid};
  if (text == "squared") return LossSpec{LossKind::kSquared};
  if (text.starts_with(kOwn)) {
    OwnLoss own;
    own.classification = !text.ends_with(kRegression);
    std::string_view name = text.substr(kOwn.size());
    if (!own.classification) name.remove_suffix(kRegression.size());
    own.name = name;
    if (is_name(name)) return LossSpec(std::move(own));
  }
  if (const std::size_t place = text.find(kWeighted); place != text.npos)
    return parse_weighted(text, place);
  for (const auto& [name, kind, otherwise] : kWithThreshold) {
    if (text == name) return LossSpec{kind, otherwise};
    if (!text.starts_with(name) || text.substr(name.size(), 1) != ":") continue;
    const std::string_view number = text.substr(name.size() + 1);
    const auto threshold = finite_in(number);
    if (!threshold || !(*threshold > 0))
      return fail(ErrorKind::kUsage,
                  fmt::format("the threshold of {0} must be finite and > 0, but is '{1}'. Set "
                              "‘loss {0}:THRESHOLD’, for example {0}:1.",
                              name,
                              number));
    return LossSpec{kind, *threshold};
  }
  // As other programs call it.
  const auto name = text == "softmax" || text == "cross-entropy" ? std::string_view("multinomial")
                                                                 : text.substr(0, text.find(':'));
  return fail(
      ErrorKind::kUsage,
      fmt::format("unknown loss '{}'.{} Set ‘loss’ to logistic, sigmoid, multinomial, squared, "
                  "huber[:THRESHOLD], phase-retrieval[:LABEL_BOUND] or poisson[:RATE].",
                  text,
                  did_you_mean(name,
                               {"logistic",
                                "sigmoid",
                                "multinomial",
                                "squared",
                                "huber",
                                "phase-retrieval",
                                "poisson"})));
}

std::string to_string(const LossSpec& loss) {
  if (const auto& [negative, positive] = loss.weights; loss.weights != ClassWeights{}) {
    LossSpec plain = loss;
    plain.weights = {};
    return fmt::format("{}{}{},{}", to_string(plain), kWeighted, negative, positive);
  }
  switch (loss.kind) {
    case LossKind::kLogistic:
      return "logistic";
    case LossKind::kSigmoid:
      return "sigmoid";
    case LossKind::kSquared:
      return "squared";
    case LossKind::kHuber:
      return fmt::format("huber:{}", loss.threshold);
    case LossKind::kPhaseRetrieval:
      return fmt::format("phase-retrieval:{}", loss.threshold);
    case LossKind::kPoisson:
      return std::isfinite(loss.threshold) ? fmt::format("poisson:{}", loss.threshold) : "poisson";
    case LossKind::kOwn:
      return fmt::format(
          "{}{}{}", kOwn, loss.own->name, loss.own->classification ? "" : kRegression);
  }
  SOTTO_CHECK(false && "unknown loss");
}

}  // namespace sotto
