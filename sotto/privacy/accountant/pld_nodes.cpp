#include "sotto/privacy/accountant/pld_nodes.hpp"

#include <algorithm>
#include <numbers>

namespace sotto::pld {

Nodes sample(const CountedLaw& counted, const LossLaw::Range& range) {
  const LossLaw& law = counted.law;
  const bool tail = counted.piece == CountedLaw::Piece::kTail;
  const auto atoms = static_cast<Eigen::Index>(law.atoms().size());
  Eigen::Index count = 0;
  double width = 0;
  if (law.has_density()) {
    const double length = range.high - range.low;
    const double scale = std::min(0.2 / law.roughness((range.low + range.high) / 2), length / 64);
    count = static_cast<Eigen::Index>(std::clamp(std::ceil(length / scale), 64.0, 4000.0));
    width = length / static_cast<double>(count);
  }
  // A density that ends at a finite loss decides small deltas right below its end: the last cell is
  // halved again and again.
  const Eigen::Index halvings = count > 0 && range.above == 0 ? 50 : 0;
  const Eigen::Index total = count + halvings + atoms + (tail ? 1 : 0);
  Nodes nodes{Eigen::ArrayXd(total), Eigen::ArrayXd(total), count};
  if (tail) nodes.loss[total - 1] = nodes.log_weight[total - 1] = 0;  // no rare loss
  double low = range.low;
  for (Eigen::Index i = 0; i < count + halvings; ++i) {
    const Eigen::Index halved = i + 1 - count;  // 0 is the last whole cell, or the first half of it
    const bool halves = halvings > 0 && halved >= 0 && halved < halvings;
    const double cell =
        halved < 0 ? width : std::ldexp(width, -static_cast<int>(halved + (halves ? 1 : 0)));
    const double b = low + cell / 2;
    low += cell;
    nodes.loss[i] = law.loss(b);
    nodes.log_weight[i] = law.log_density(b, nodes.loss[i]) + std::log(cell);
  }
  for (Eigen::Index i = 0; i < atoms; ++i) {
    nodes.loss[count + halvings + i] = law.atoms()[static_cast<std::size_t>(i)].loss;
    nodes.log_weight[count + halvings + i] =
        std::log(law.atoms()[static_cast<std::size_t>(i)].mass);
  }
  if (counted.piece == CountedLaw::Piece::kWhole) nodes.log_weight -= nodes.at(0).value;
  return nodes;
}

double Nodes::barycentre(double step) const {
  Eigen::Index heaviest = 0;
  log_weight.maxCoeff(&heaviest);
  const double centre = loss[heaviest];
  if (step > 20) return centre;
  double mass = 0;
  double lean = 0;
  for (Eigen::Index k = 0; k < loss.size(); ++k) {
    if (std::abs(loss[k] - centre) > step / 2) continue;
    const double w = std::exp(log_weight[k]);
    mass += w;
    lean += w * std::expm1(centre - loss[k]);
  }
  return centre - std::log1p(lean / mass);
}

double log_saddle_factor(double t, double variance) {
  const auto denominator = [&](double s) {
    const double a = s * std::sqrt(variance / 2);
    return std::sqrt(std::numbers::pi) * a + std::sqrt(std::numbers::pi * a * a + 4);
  };
  const double first = denominator(t);
  const double second = denominator(t + 1);
  return std::log(std::max(second - first, 1e-300)) - std::log(first) - std::log(second);
}

}  // namespace sotto::pld
