#include "sotto/audit/canary_engine.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/check.hpp"

namespace sotto {
namespace {

/// Longer than any sensible clip radius, so that a canary counts as much as a unit may.
constexpr double kLength = 1e6;
/// Norms are reported rounded up.
constexpr double kRoundUp = 1 + 1e-12;

double normal(Stream& random) {
  return std::sqrt(-2 * std::log(random.uniform())) * std::cos(2 * M_PI * random.uniform());
}

}  // namespace

struct CanaryEngine::Mine final : Workspace {
  std::unique_ptr<Workspace> inner;
  Block inner_block;
  std::vector<std::int64_t> indices;   // of the inner units in the block
  std::vector<std::int64_t> canaries;  // in the block
  std::vector<std::int64_t> places;    // where each of both kinds stands in the block
  std::vector<std::int64_t> canary_places;
  std::vector<double> numbers, more_numbers;
};

CanaryEngine::CanaryEngine(const Engine& inner, std::int64_t canaries, Stream& random)
    : inner_(inner) {
  SOTTO_CHECK(canaries > 0);
  for (std::int64_t i = 0; i < canaries; ++i) {
    Vector v(inner.parameters());
    for (double& x : v) x = normal(random);
    // Orthogonal to the others as long as there is room (twice, against rounding).
    const std::int64_t first = i - i % inner.parameters();
    for (int pass = 0; pass < 2; ++pass)
      for (std::int64_t k = first; k < i; ++k) v -= v.dot(direction(k)) * direction(k);
    directions_.push_back(v / v.norm());
    inserted_.push_back(random.below(2) == 1);
  }
  mark_nulls();
}

CanaryEngine::CanaryEngine(const Engine& inner)
    : inner_(inner), directions_(1, Vector::Zero(inner.parameters())), inserted_(1, false) {
  mark_nulls();
}

void CanaryEngine::mark_nulls() {
  const auto inner = inner_.null_units();
  nulls_.assign(inner.begin(), inner.end());
  nulls_.resize(static_cast<std::size_t>(inner_.units()), 0);
  for (const bool inserted : inserted_) nulls_.push_back(inserted ? 0 : 1);
}

Vector CanaryEngine::pull() const {
  Vector sum = Vector::Zero(parameters());
  for (std::int64_t i = 0; i < canaries(); ++i)
    if (inserted(i)) sum += direction(i);
  return sum;
}

std::unique_ptr<Engine::Workspace> CanaryEngine::make_workspace() const {
  auto mine = std::make_unique<Mine>();
  mine->inner = inner_.make_workspace();
  return mine;
}

void CanaryEngine::split(const Block& block, Mine& mine) const {
  mine.indices.clear();
  mine.places.clear();
  mine.canaries.clear();
  mine.canary_places.clear();
  for (std::int64_t k = 0; k < block.count; ++k) {
    const std::int64_t unit = block[k];
    if (unit < inner_.units()) {
      mine.indices.push_back(unit);
      mine.places.push_back(k);
    } else {
      mine.canaries.push_back(unit - inner_.units());
      mine.canary_places.push_back(k);
    }
  }
  mine.inner_block.index = mine.indices.data();
  mine.inner_block.begin = 0;
  mine.inner_block.count = static_cast<std::int64_t>(mine.indices.size());
  mine.numbers.resize(mine.indices.size());
}

void CanaryEngine::scatter(const Mine& mine,
                           std::span<const double> numbers,
                           std::span<double> all,
                           std::size_t each) {
  for (std::size_t k = 0; k < mine.places.size(); ++k)
    for (std::size_t i = 0; i < each; ++i)
      all[static_cast<std::size_t>(mine.places[k]) * each + i] = numbers[k * each + i];
}

std::span<const double> CanaryEngine::gather(const Mine& mine,
                                             std::span<const double> all,
                                             std::vector<double>& numbers,
                                             std::size_t each) {
  numbers.resize(mine.places.size() * each);
  for (std::size_t k = 0; k < mine.places.size(); ++k)
    for (std::size_t i = 0; i < each; ++i)
      numbers[k * each + i] = all[static_cast<std::size_t>(mine.places[k]) * each + i];
  return numbers;
}

double CanaryEngine::canary_norm(std::int64_t canary) const {
  return inserted(canary) ? kLength * kRoundUp : 0.0;
}

void CanaryEngine::evaluate_gradients(const Block& block,
                                      std::span<const double> w,
                                      Workspace& workspace,
                                      std::span<double> norms) const {
  auto& mine = static_cast<Mine&>(workspace);
  split(block, mine);
  if (mine.inner_block.count > 0)
    inner_.evaluate_gradients(mine.inner_block, w, *mine.inner, mine.numbers);
  scatter(mine, mine.numbers, norms);
  for (std::size_t k = 0; k < mine.canaries.size(); ++k)
    norms[static_cast<std::size_t>(mine.canary_places[k])] = canary_norm(mine.canaries[k]);
}

void CanaryEngine::add_gradients(Workspace& workspace,
                                 std::span<const double> weights,
                                 std::span<double> sum) const {
  auto& mine = static_cast<Mine&>(workspace);
  const auto inner = gather(mine, weights, mine.numbers);
  if (!inner.empty()) inner_.add_gradients(*mine.inner, inner, sum);
  add_canaries(mine, weights, sum);
}

void CanaryEngine::add_canaries(const Mine& mine,
                                std::span<const double> weights,
                                std::span<double> sum) const {
  for (std::size_t k = 0; k < mine.canaries.size(); ++k) {
    const double weight = weights[static_cast<std::size_t>(mine.canary_places[k])];
    if (weight == 0 || !inserted(mine.canaries[k])) continue;
    const Vector& v = direction(mine.canaries[k]);
    for (std::size_t j = 0; j < sum.size(); ++j)
      sum[j] += weight * kLength * v[static_cast<Eigen::Index>(j)];
  }
}

void CanaryEngine::evaluate_gradient_pairs(const Block& block,
                                           std::span<const double> w,
                                           std::span<const double> before,
                                           Workspace& workspace) const {
  auto& mine = static_cast<Mine&>(workspace);
  split(block, mine);
  if (mine.inner_block.count > 0)
    inner_.evaluate_gradient_pairs(mine.inner_block, w, before, *mine.inner);
}

void CanaryEngine::pair_norms(Workspace& workspace,
                              double gradient,
                              double difference,
                              std::span<double> norms) const {
  auto& mine = static_cast<Mine&>(workspace);
  mine.numbers.resize(mine.places.size());
  if (!mine.places.empty()) inner_.pair_norms(*mine.inner, gradient, difference, mine.numbers);
  scatter(mine, mine.numbers, norms);
  for (std::size_t k = 0; k < mine.canaries.size(); ++k)
    norms[static_cast<std::size_t>(mine.canary_places[k])] =
        std::abs(gradient) * canary_norm(mine.canaries[k]);
}

void CanaryEngine::add_gradient_pairs(Workspace& workspace,
                                      std::span<const double> gradient,
                                      std::span<const double> difference,
                                      std::span<double> sum) const {
  auto& mine = static_cast<Mine&>(workspace);
  const auto inner = gather(mine, gradient, mine.numbers);
  const auto inner_difference = gather(mine, difference, mine.more_numbers);
  if (!inner.empty()) inner_.add_gradient_pairs(*mine.inner, inner, inner_difference, sum);
  add_canaries(mine, gradient, sum);
}

void CanaryEngine::layer_norms(Workspace& workspace, std::span<double> norms) const {
  auto& mine = static_cast<Mine&>(workspace);
  const auto each = static_cast<std::size_t>(layers());
  mine.numbers.resize(mine.places.size() * each);
  if (!mine.places.empty()) inner_.layer_norms(*mine.inner, mine.numbers);
  scatter(mine, mine.numbers, norms, each);
  for (std::size_t k = 0; k < mine.canaries.size(); ++k) {
    SOTTO_CHECK(!inserted(mine.canaries[k]));
    const auto place = static_cast<std::size_t>(mine.canary_places[k]);
    std::fill_n(norms.begin() + static_cast<std::ptrdiff_t>(place * each), each, 0.0);
  }
}

void CanaryEngine::add_layer_gradients(Workspace& workspace,
                                       std::span<const double> weights,
                                       std::span<double> sum) const {
  auto& mine = static_cast<Mine&>(workspace);
  const auto inner = gather(mine, weights, mine.numbers, static_cast<std::size_t>(layers()));
  if (!inner.empty()) inner_.add_layer_gradients(*mine.inner, inner, sum);
}

void CanaryEngine::evaluate_hessians(const Block& block,
                                     std::span<const double> w,
                                     Workspace& workspace,
                                     std::span<double> norms) const {
  auto& mine = static_cast<Mine&>(workspace);
  split(block, mine);
  if (mine.inner_block.count > 0)
    inner_.evaluate_hessians(mine.inner_block, w, *mine.inner, mine.numbers);
  scatter(mine, mine.numbers, norms);
  for (const std::int64_t place : mine.canary_places) norms[static_cast<std::size_t>(place)] = 0;
}

void CanaryEngine::add_hessians(Workspace& workspace,
                                std::span<const double> weights,
                                std::span<double> sum) const {
  auto& mine = static_cast<Mine&>(workspace);
  const auto inner = gather(mine, weights, mine.numbers);
  if (!inner.empty()) inner_.add_hessians(*mine.inner, inner, sum);
}

void CanaryEngine::add_hessian_products(Workspace& workspace,
                                        std::span<const double> weights,
                                        std::span<const double> v,
                                        std::span<double> sum) const {
  auto& mine = static_cast<Mine&>(workspace);
  const auto inner = gather(mine, weights, mine.numbers);
  if (!inner.empty()) inner_.add_hessian_products(*mine.inner, inner, v, sum);
}

void CanaryEngine::evaluate_gradients_and_hessians(const Block& block,
                                                   std::span<const double> w,
                                                   Workspace& workspace,
                                                   std::span<double> gradient_norms,
                                                   std::span<double> hessian_norms) const {
  auto& mine = static_cast<Mine&>(workspace);
  split(block, mine);
  std::vector<double> hessians(mine.numbers.size());
  if (mine.inner_block.count > 0)
    inner_.evaluate_gradients_and_hessians(
        mine.inner_block, w, *mine.inner, mine.numbers, hessians);
  scatter(mine, mine.numbers, gradient_norms);
  scatter(mine, hessians, hessian_norms);
  for (std::size_t k = 0; k < mine.canaries.size(); ++k) {
    const auto place = static_cast<std::size_t>(mine.canary_places[k]);
    gradient_norms[place] = canary_norm(mine.canaries[k]);
    hessian_norms[place] = 0;
  }
}

void CanaryEngine::evaluate_losses(const Block& block,
                                   std::span<const double> w,
                                   Workspace& workspace,
                                   std::span<double> losses) const {
  auto& mine = static_cast<Mine&>(workspace);
  split(block, mine);
  if (mine.inner_block.count > 0)
    inner_.evaluate_losses(mine.inner_block, w, *mine.inner, mine.numbers);
  scatter(mine, mine.numbers, losses);
  for (const std::int64_t place : mine.canary_places) losses[static_cast<std::size_t>(place)] = 0;
}

}  // namespace sotto
