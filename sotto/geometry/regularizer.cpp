#include "sotto/geometry/regularizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/geometry/threshold.hpp"

namespace sotto {
namespace {

using Kind = RegularizerKind;

constexpr std::array<std::pair<std::string_view, Kind>, 5> kNames{{{"l2", Kind::kL2},
                                                                   {"l1", Kind::kL1},
                                                                   {"nonconvex", Kind::kNonconvex},
                                                                   {"elastic", Kind::kElastic},
                                                                   {"group-l1", Kind::kGroupL1}}};

/// elastic:LAMBDA,MU and group-l1:LAMBDA,SIZE.
Expected<Regularizer> parse_pair(Kind kind, std::string_view name, std::string_view numbers) {
  const auto comma = numbers.find(',');
  const auto first = finite_in(numbers.substr(0, comma));
  const auto second =
      comma == std::string_view::npos ? std::nullopt : finite_in(numbers.substr(comma + 1));
  const bool elastic = kind == Kind::kElastic;
  const bool fine =
      first && second && *first >= 0 &&
      (elastic ? *second >= 0 : *second >= 1 && *second == std::floor(*second) && *second < 0x1p40);
  if (!fine)
    return fail(ErrorKind::kUsage,
                fmt::format("the regularizer {} needs two numbers, {}, but has '{}'. Set "
                            "‘regularizer {}’.",
                            name,
                            elastic ? "lambda >= 0 and mu >= 0"
                                    : "lambda >= 0 and the whole size of a group",
                            numbers,
                            elastic ? "elastic:LAMBDA,MU, for example elastic:1e-3,1e-4"
                                    : "group-l1:LAMBDA,SIZE, for example group-l1:1e-3,4"));
  if (elastic) return Regularizer::elastic(*first, *second);
  return Regularizer::group_l1(*first, static_cast<std::int64_t>(*second));
}

}  // namespace

Regularizer::Regularizer(RegularizerKind kind, double lambda, std::int64_t regularized)
    : kind_(kind), lambda_(lambda), regularized_(regularized) {
  SOTTO_CHECK(std::isfinite(lambda) && lambda >= 0);
  SOTTO_CHECK(regularized >= 0);
}

Regularizer Regularizer::elastic(double lambda, double mu) {
  SOTTO_CHECK(std::isfinite(mu) && mu >= 0);
  Regularizer result(Kind::kElastic, lambda);
  result.mu_ = mu;
  return result;
}

Regularizer Regularizer::group_l1(double lambda, std::int64_t size) {
  SOTTO_CHECK(size >= 1);
  Regularizer result(Kind::kGroupL1, lambda);
  result.group_size_ = size;
  return result;
}

Expected<Regularizer> Regularizer::parse(std::string_view text) {
  if (text == "none") return Regularizer();
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  const auto known = std::find_if(
      kNames.begin(), kNames.end(), [&](const auto& entry) { return entry.first == name; });
  if (known == kNames.end())
    return fail(ErrorKind::kUsage,
                fmt::format("unknown regularizer '{}'. Set ‘regularizer’ to none, l2:LAMBDA, "
                            "l1:LAMBDA, nonconvex:LAMBDA, elastic:LAMBDA,MU or "
                            "group-l1:LAMBDA,SIZE, for example l2:1e-4.",
                            text));
  if (colon == std::string_view::npos)
    return fail(ErrorKind::kUsage,
                fmt::format("the regularizer {0} needs its weight lambda. Set ‘regularizer’ "
                            "{0}:LAMBDA, for example {0}:1e-4.",
                            name));
  const auto number = text.substr(colon + 1);
  if (known->second == Kind::kElastic || known->second == Kind::kGroupL1)
    return parse_pair(known->second, name, number);
  const auto lambda = finite_in(number);
  if (!lambda || *lambda < 0)
    return fail(ErrorKind::kUsage,
                fmt::format("the lambda of the regularizer {0} must be finite and >= 0, but is "
                            "'{1}'. Set ‘regularizer {0}:LAMBDA’, for example {0}:1e-4.",
                            name,
                            number));
  return Regularizer(known->second, *lambda);
}

std::string Regularizer::to_string() const {
  if (kind_ == Kind::kElastic) return fmt::format("elastic:{},{}", lambda_, mu_);
  if (kind_ == Kind::kGroupL1) return fmt::format("group-l1:{},{}", lambda_, group_size_);
  for (const auto& [name, kind] : kNames)
    if (kind == kind_) return fmt::format("{}:{}", name, lambda_);
  return "none";
}

std::int64_t Regularizer::count(const Vector& w) const {
  return std::min<std::int64_t>(regularized_, w.size());
}

double Regularizer::value(const Vector& w) const {
  const auto v = w.head(count(w)).array();
  switch (kind_) {
    case Kind::kNone:
      return 0;
    case Kind::kL2:
      return lambda_ / 2 * v.square().sum();
    case Kind::kL1:
      return lambda_ * v.abs().sum();
    case Kind::kNonconvex:
      // 1 - 1/(1 + w²) would cancel near 0, w²/(1 + w²) overflows for huge w.
      return lambda_ * v.unaryExpr([](double x) {
                          return std::fabs(x) < 1 ? x * x / (1 + x * x) : 1 / (1 + 1 / (x * x));
                        }).sum();
    case Kind::kElastic:
      return lambda_ * v.abs().sum() + mu_ / 2 * v.square().sum();
    case Kind::kGroupL1: {
      double sum = 0;
      for (Eigen::Index k = 0; k < v.size(); k += group_size_)
        sum += v.segment(k, std::min<Eigen::Index>(group_size_, v.size() - k)).matrix().norm();
      return lambda_ * sum;
    }
  }
  SOTTO_CHECK(false && "unknown regularizer");
}

void Regularizer::add_gradient(const Vector& w, Vector& gradient) const {
  SOTTO_CHECK(gradient.size() == w.size());
  const auto v = w.head(count(w)).array();
  auto target = gradient.head(count(w)).array();
  switch (kind_) {
    case Kind::kNone:
    case Kind::kL1:
    case Kind::kGroupL1:
      return;
    case Kind::kL2:
      target += lambda_ * v;
      return;
    case Kind::kElastic:
      target += mu_ * v;
      return;
    case Kind::kNonconvex:
      target += 2 * lambda_ * v.unaryExpr([](double x) {
        const double s = 1 + x * x;
        return x / s / s;
      });
      return;
  }
}

void Regularizer::add_hessian_diagonal(const Vector& w, Vector& diagonal) const {
  SOTTO_CHECK(diagonal.size() == w.size());
  const auto v = w.head(count(w)).array();
  auto target = diagonal.head(count(w)).array();
  switch (kind_) {
    case Kind::kNone:
    case Kind::kL1:
    case Kind::kGroupL1:
      return;
    case Kind::kL2:
      target += lambda_;
      return;
    case Kind::kElastic:
      target += mu_;
      return;
    case Kind::kNonconvex:
      // (1 - 3w²)/(1 + w²)³ = (4/s - 3)/s² with s = 1 + w².
      target += 2 * lambda_ * v.unaryExpr([](double x) {
        const double s = 1 + x * x;
        return (4 / s - 3) / s / s;
      });
      return;
  }
}

void Regularizer::prox(double step, Vector& w) const {
  SOTTO_CHECK(step >= 0);
  const double threshold = step * lambda_;
  auto v = w.head(count(w));
  if (kind_ == Kind::kL1 || kind_ == Kind::kElastic)
    v = v.unaryExpr([threshold](double x) { return internal::shrink(x, threshold); });
  if (kind_ != Kind::kGroupL1) return;
  for (Eigen::Index k = 0; k < v.size(); k += group_size_) {
    auto group = v.segment(k, std::min<Eigen::Index>(group_size_, v.size() - k));
    const double norm = group.norm();
    group *= norm > threshold ? 1 - threshold / norm : 0;
  }
}

Regularizer::Curvature Regularizer::curvature(std::int64_t dim) const {
  Curvature bounds{0, 0};
  if (kind_ == Kind::kL2) bounds = {lambda_, lambda_};
  if (kind_ == Kind::kElastic) bounds = {mu_, mu_};
  if (kind_ == Kind::kNonconvex) bounds = {-lambda_ / 2, 2 * lambda_};  // at w² = 1 and w = 0
  if (regularized_ < dim) bounds.lowest = std::min(bounds.lowest, 0.0);
  return bounds;
}

}  // namespace sotto
