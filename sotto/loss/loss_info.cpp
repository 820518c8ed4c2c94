#include "sotto/loss/loss_info.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

// max of p(1-p)|2p-1| over p in [0, 1]: 1 / (6√3).
constexpr double kSigmoidSecond = 0.096225044864937627;

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
  }
  SOTTO_CHECK(false && "unknown loss");
}

double LossInfo::working_second() const {
  return std::isfinite(sup_abs_second()) ? sup_abs_second() : -3 * inf_second;
}

Expected<LossSpec> parse_loss(std::string_view text) {
  if (text == "logistic") return LossSpec{LossKind::kLogistic};
  if (text == "sigmoid") return LossSpec{LossKind::kSigmoid};
  if (text == "squared") return LossSpec{LossKind::kSquared};
  if (text == "huber") return LossSpec{LossKind::kHuber};
  if (text == "phase-retrieval") return LossSpec{LossKind::kPhaseRetrieval};
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
  return fail(ErrorKind::kUsage,
              fmt::format("unknown loss '{}'. Set ‘loss’ to logistic, sigmoid, squared, huber, "
                          "huber:THRESHOLD, phase-retrieval or phase-retrieval:THRESHOLD.",
                          text));
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
  }
  SOTTO_CHECK(false && "unknown loss");
}

}  // namespace sotto
