#include "sotto/geometry/regularizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/geometry/parse_number.hpp"

namespace sotto {
namespace {

using Kind = RegularizerKind;

constexpr std::array<std::pair<std::string_view, Kind>, 3> kNames{
    {{"l2", Kind::kL2}, {"l1", Kind::kL1}, {"nonconvex", Kind::kNonconvex}}};

}  // namespace

Regularizer::Regularizer(RegularizerKind kind, double lambda, std::int64_t regularized)
    : kind_(kind), lambda_(lambda), regularized_(regularized) {
  SOTTO_CHECK(std::isfinite(lambda) && lambda >= 0);
  SOTTO_CHECK(regularized >= 0);
}

Expected<Regularizer> Regularizer::parse(std::string_view text) {
  if (text == "none") return Regularizer();
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  const auto known = std::find_if(
      kNames.begin(), kNames.end(), [&](const auto& entry) { return entry.first == name; });
  if (known == kNames.end())
    return fail(ErrorKind::kUsage,
                fmt::format("unknown regularizer '{}'. Set --regularizer to none, l2:LAMBDA, "
                            "l1:LAMBDA or nonconvex:LAMBDA, for example l2:1e-4.",
                            text));
  if (colon == std::string_view::npos)
    return fail(ErrorKind::kUsage,
                fmt::format("the regularizer {0} needs its weight lambda. Set --regularizer "
                            "{0}:LAMBDA, for example {0}:1e-4.",
                            name));
  const auto number = text.substr(colon + 1);
  const auto lambda = internal::parse_number(number);
  if (!lambda || *lambda < 0)
    return fail(ErrorKind::kUsage,
                fmt::format("the lambda of the regularizer {0} must be finite and >= 0, but is "
                            "'{1}'. Set --regularizer {0}:LAMBDA, for example {0}:1e-4.",
                            name,
                            number));
  return Regularizer(known->second, *lambda);
}

std::string Regularizer::to_string() const {
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
      return;
    case Kind::kL2:
      target += lambda_ * v;
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
      return;
    case Kind::kL2:
      target += lambda_;
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
  if (kind_ != Kind::kL1) return;
  const double threshold = step * lambda_;
  auto v = w.head(count(w)).array();
  v = v.unaryExpr(
      [threshold](double x) { return std::copysign(std::max(std::fabs(x) - threshold, 0.0), x); });
}

Regularizer::Curvature Regularizer::curvature(std::int64_t dim) const {
  Curvature bounds{0, 0};
  if (kind_ == Kind::kL2) bounds = {lambda_, lambda_};
  if (kind_ == Kind::kNonconvex) bounds = {-lambda_ / 2, 2 * lambda_};  // at w² = 1 and w = 0
  if (regularized_ < dim) bounds.lowest = std::min(bounds.lowest, 0.0);
  return bounds;
}

}  // namespace sotto
