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

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

}  // namespace

LossInfo loss_info(const LossSpec& loss) {
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

double LossInfo::working_second() const {
  return std::isfinite(sup_abs_second()) ? sup_abs_second() : -3 * inf_second;
}

Expected<void> check_loss(const LossSpec& loss) {
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
  if (text == "huber") return LossSpec{LossKind::kHuber};
  if (text == "phase-retrieval") return LossSpec{LossKind::kPhaseRetrieval};
  if (text.starts_with(kOwn)) {
    OwnLoss own;
    own.classification = !text.ends_with(kRegression);
    std::string_view name = text.substr(kOwn.size());
    if (!own.classification) name.remove_suffix(kRegression.size());
    own.name = name;
    if (is_name(name)) return LossSpec(std::move(own));
  }
  for (const auto& [name, kind] : {std::pair<std::string_view, LossKind>{"huber", LossKind::kHuber},
                                   {"phase-retrieval", LossKind::kPhaseRetrieval}}) {
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
  return fail(
      ErrorKind::kUsage,
      fmt::format("unknown loss '{}'.{} Set ‘loss’ to logistic, sigmoid, squared, huber, "
                  "huber:THRESHOLD, phase-retrieval or phase-retrieval:THRESHOLD.",
                  text,
                  did_you_mean(text.substr(0, text.find(':')),
                               {"logistic", "sigmoid", "squared", "huber", "phase-retrieval"})));
}

std::string to_string(const LossSpec& loss) {
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
    case LossKind::kOwn:
      return fmt::format(
          "{}{}{}", kOwn, loss.own->name, loss.own->classification ? "" : kRegression);
  }
  SOTTO_CHECK(false && "unknown loss");
}

}  // namespace sotto
