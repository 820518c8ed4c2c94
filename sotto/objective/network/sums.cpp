// Norms and weighted sums of a block's per-example gradients (network.proof.md).

#include <algorithm>
#include <cmath>

#include "sotto/core/check.hpp"
#include "sotto/objective/network/engine.hpp"
#include "sotto/objective/network/layer.hpp"
#include "sotto/objective/network/scratch.hpp"

namespace sotto {

using network::GradientKind;
using network::to_size;

double NetworkEngine::round_up(double norm) const {
  return norm * (1 + static_cast<double>(parameters_ + 64) * 0x1p-52);
}

/// With several chains of additions, so that none waits for the one before.
double network::sum_squares(std::span<const double> numbers) {
  constexpr std::size_t kChains = 8;
  double chains[kChains] = {};
  std::size_t j = 0;
  for (; j + kChains <= numbers.size(); j += kChains)
    for (std::size_t c = 0; c < kChains; ++c) chains[c] += numbers[j + c] * numbers[j + c];
  double sum = 0;
  for (; j < numbers.size(); ++j) sum += numbers[j] * numbers[j];
  for (const double chain : chains) sum += chain;
  return sum;
}

/// ‖gradient‖² of one layer and unit. Of a single row each square is exact, and a linear layer's is
/// |δ|² (|a|² + 1).
double NetworkEngine::square(const Trained& trained, const Scratch& s, Member member) const {
  const auto [place, is_summed] = member;
  if (is_summed) return network::sum_squares(summed(trained, s, 0, place));
  const auto form = layers_[trained.layer]->gradient();
  const auto& slot = s.storage[0].slots[to_size(trained_of_[trained.layer])];
  if (form.kind == GradientKind::kDense)
    return kernels_.sum_squares(slot.dense.data() + place * form.dense, form.dense);
  const double slopes = kernels_.sum_squares(slot.left.data() + place * form.left, form.left);
  return slopes * (input_square(trained, s, place) + (form.bias ? 1 : 0));
}

const float* NetworkEngine::right_of(const Trained& trained,
                                     const Scratch& s,
                                     std::int64_t place) const {
  if (shares_inputs(trained)) return s.inputs[to_size(place)];
  const auto& slot = s.storage[0].slots[to_size(trained_of_[trained.layer])];
  return slot.right.data() + place * layers_[trained.layer]->gradient().right;
}

double NetworkEngine::input_square(const Trained& trained,
                                   const Scratch& s,
                                   std::int64_t place) const {
  if (shares_inputs(trained) && rows_in_place_) {
    const std::int64_t row = (s.inputs[to_size(place)] - table_.row(0)) / table_.stride();
    const double norm = table_.norms()[to_size(row)];
    return norm * norm;
  }
  return kernels_.sum_squares(right_of(trained, s, place),
                              layers_[trained.layer]->gradient().right);
}

void NetworkEngine::layer_norms(Workspace& workspace, std::span<double> norms) const {
  auto& s = static_cast<Scratch&>(workspace);
  SOTTO_CHECK(!s.pairs && norms.size() >= to_size(s.count) * trained_.size());
  for (std::int64_t k = 0; k < s.count; ++k)
    for (std::size_t l = 0; l < trained_.size(); ++l)
      norms[to_size(k) * trained_.size() + l] =
          round_up(std::sqrt(square(trained_[l], s, member(s, k))));
}

void NetworkEngine::add_gradients(Workspace& workspace,
                                  std::span<const double> weights,
                                  std::span<double> sum) const {
  auto& s = static_cast<Scratch&>(workspace);
  SOTTO_CHECK(!s.pairs && static_cast<std::int64_t>(sum.size()) == parameters_ &&
              static_cast<std::int64_t>(weights.size()) >= s.count);
  for (const Trained& each : trained_) add_trained(each, s, weights, 1, sum);
}

void NetworkEngine::add_layer_gradients(Workspace& workspace,
                                        std::span<const double> weights,
                                        std::span<double> sum) const {
  auto& s = static_cast<Scratch&>(workspace);
  SOTTO_CHECK(!s.pairs && static_cast<std::int64_t>(sum.size()) == parameters_ &&
              weights.size() >= to_size(s.count) * trained_.size());
  for (std::size_t l = 0; l < trained_.size(); ++l)
    add_trained(trained_[l], s, weights.subspan(l), trained_.size(), sum);
}

void NetworkEngine::add_trained(const Trained& trained,
                                Scratch& s,
                                std::span<const double> weights,
                                std::size_t stride,
                                std::span<double> sum) const {
  double* total = open_total(trained, s, sum);
  for (std::int64_t k = 0; k < s.count; ++k) {
    const double weight = weights[to_size(k) * stride];
    if (weight == 0) continue;  // must not matter, even where the gradient is not finite
    const auto [place, is_summed] = member(s, k);
    if (!is_summed) {
      s.terms.push_back({place, weight, 0});
      continue;
    }
    add_terms(trained, s, total);  // units are added in their order, however they are kept
    const auto gradient = summed(trained, s, 0, place);
    for (std::size_t j = 0; j < gradient.size(); ++j) total[j] += weight * gradient[j];
  }
  add_terms(trained, s, total);
  close_total(trained, s, sum);
}

void NetworkEngine::add_terms(const Trained& trained, Scratch& s, double* total) const {
  const auto form = layers_[trained.layer]->gradient();
  const auto& slot = s.storage[0].slots[to_size(trained_of_[trained.layer])];
  s.rows.clear();
  s.weights.clear();
  s.left.clear();
  for (const auto& [place, weight, unused] : s.terms) {
    if (form.kind == GradientKind::kDense) {
      s.rows.push_back(slot.dense.data() + place * form.dense);
      s.weights.push_back(weight);
      continue;
    }
    s.rows.push_back(right_of(trained, s, place));
    const float* slopes = slot.left.data() + place * form.left;
    for (std::int64_t o = 0; o < form.outputs; ++o)
      s.left.push_back(weight * static_cast<double>(slopes[o]));
  }
  s.terms.clear();
  const auto rows = std::ssize(s.rows);
  if (form.kind == GradientKind::kDense) {
    kernels_.add_rows(s.rows.data(), s.weights.data(), rows, form.dense, total);
    return;
  }
  kernels_.add_outer(
      s.left.data(), form.outputs, s.rows.data(), rows, form.outputs, form.right, total);
  add_biases(trained, s, rows, total);
}

/// Adds the biases' part Σ_k left[k] to the total.
void NetworkEngine::add_biases(const Trained& trained,
                               const Scratch& s,
                               std::int64_t rows,
                               double* total) const {
  const auto form = layers_[trained.layer]->gradient();
  if (!form.bias) return;
  double* biases = total + form.outputs * form.right;
  for (std::int64_t k = 0; k < rows; ++k)
    for (std::int64_t o = 0; o < form.outputs; ++o)
      biases[o] += s.left[to_size(k * form.outputs + o)];
}

double* NetworkEngine::open_total(const Trained& trained, Scratch& s, std::span<double> sum) const {
  if (trained.in_order) return sum.data() + trained.begin;
  s.total.assign(trained.places.size(), 0.0);
  return s.total.data();
}

/// From the kernels' order to that of the parameters.
void NetworkEngine::close_total(const Trained& trained,
                                const Scratch& s,
                                std::span<double> sum) const {
  if (trained.in_order) return;
  double* target = sum.data() + trained.begin;
  for (std::size_t j = 0; j < s.total.size(); ++j)
    if (const std::int32_t place = trained.places[j]; place >= 0) target[place] += s.total[j];
}

}  // namespace sotto
