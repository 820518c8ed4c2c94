// Gradients at two points: each chunk of examples goes through the network twice while its rows are
// in the cache.

#include <algorithm>
#include <cmath>

#include "sotto/core/check.hpp"
#include "sotto/objective/network/engine.hpp"
#include "sotto/objective/network/layer.hpp"
#include "sotto/objective/network/unit_blocks.hpp"

namespace sotto {

using network::GradientKind;
using network::to_size;

void NetworkEngine::evaluate_gradient_pairs(const Block& block,
                                            std::span<const double> w,
                                            std::span<const double> before,
                                            Workspace& workspace) const {
  SOTTO_CHECK(block.count <= block_size_);
  auto& s = static_cast<Scratch&>(workspace);
  if (s.storage[1].slots.empty()) s.storage[1] = make_storage();
  const Point& here = point_at(w, s, 0);
  const Point& there = point_at(before, s, 1);
  s.pairs = true;
  run_block(
      block, s, [&](const Block& rows, std::int64_t begin, std::int64_t count, std::int64_t place) {
        run_chunk(here, rows, begin, count, place, s.storage[0], s);
        run_chunk(there, rows, begin, count, place, s.storage[1], s);
        // Behind the passes the earlier point's inputs of linear layers are only needed as
        // differences.
        for (const Trained& each : trained_) {
          const auto form = layers_[each.layer]->gradient();
          if (form.kind == GradientKind::kDense || shares_inputs(each)) continue;
          const auto slot = to_size(trained_of_[each.layer]);
          const float* now = s.storage[0].slots[slot].right.data() + place * form.right;
          float* then = s.storage[1].slots[slot].right.data() + place * form.right;
          kernels_.subtract(now, then, count * form.right, then);
        }
      });
}

/// ‖α g + β (g - g')‖² of one layer and example, and a bound on what rounding may add to its norm.
///
/// A linear layer's gradient is δ ⊗ a, and α g + β (g - g') = p ⊗ a + q ⊗ m with
/// p = α δ + β (δ - δ'), q = β δ', m = a - a' (whose last entry, the bias's, is 0).
double NetworkEngine::pair_square(const Trained& trained,
                                  const Scratch& s,
                                  double gradient,
                                  double difference,
                                  std::int64_t place,
                                  double& rounding) const {
  const auto form = layers_[trained.layer]->gradient();
  const auto slot = to_size(trained_of_[trained.layer]);
  const auto& now = s.storage[0].slots[slot];
  const auto& then = s.storage[1].slots[slot];
  if (form.kind == GradientKind::kDense) {
    const float* g = now.dense.data() + place * form.dense;
    const float* g_before = then.dense.data() + place * form.dense;
    if (difference == 0) return gradient * gradient * kernels_.sum_squares(g, form.dense);
    if (gradient == 0)
      return difference * difference * kernels_.sum_squared_differences(g, g_before, form.dense);
    double squares = 0;
    double sizes = 0;
    for (std::int64_t j = 0; j < form.dense; ++j) {
      const double a = gradient * static_cast<double>(g[j]);
      const double b = difference * static_cast<double>(g[j] - g_before[j]);
      squares += (a + b) * (a + b);
      sizes += a * a + b * b;
    }
    rounding += std::sqrt(2 * sizes);
    return squares;
  }
  const float* slopes = now.left.data() + place * form.left;
  const double inputs = input_square(trained, s, place) + (form.bias ? 1 : 0);
  if (difference == 0)
    return gradient * gradient * kernels_.sum_squares(slopes, form.left) * inputs;
  const float* slopes_before = then.left.data() + place * form.left;
  double pp = 0, pq = 0, qq = 0;
  for (std::int64_t o = 0; o < form.outputs; ++o) {
    const double now_o = slopes[o];
    const double then_o = slopes_before[o];
    const double p = (gradient == 0 ? 0 : gradient * now_o) + difference * (now_o - then_o);
    const double q = difference * then_o;
    pp += p * p;
    pq += p * q;
    qq += q * q;
  }
  double mm = 0, am = 0;  // where both points read the same inputs
  if (!shares_inputs(trained)) {
    const float* moved = then.right.data() + place * form.right;
    mm = kernels_.sum_squares(moved, form.right);
    am = kernels_.dot(right_of(trained, s, place), moved, form.right);
  }
  // The terms may cancel: the rounding of each counts in full.
  rounding += std::sqrt(pp * inputs) + std::sqrt(qq * mm) +
              std::abs(gradient) * std::sqrt(kernels_.sum_squares(slopes, form.left) * inputs);
  return std::max(0.0, pp * inputs + 2 * pq * am + qq * mm);
}

void NetworkEngine::pair_norms(Workspace& workspace,
                               double gradient,
                               double difference,
                               std::span<double> norms) const {
  auto& s = static_cast<Scratch&>(workspace);
  SOTTO_CHECK(s.pairs && static_cast<std::int64_t>(norms.size()) >= s.count);
  for (std::int64_t k = 0; k < s.count; ++k) {
    const auto [place, is_summed] = member(s, k);
    double squares = 0;
    double rounding = 0;
    for (const Trained& each : trained_) {
      const double here = is_summed
                              ? summed_pair_square(each, s, gradient, difference, place, rounding)
                              : pair_square(each, s, gradient, difference, place, rounding);
      squares += here;
    }
    // Where the terms of a linear layer cancel, the square's error is relative to their sizes: its
    // root is as much larger as the root of that error.
    norms[to_size(k)] = round_up(std::sqrt(squares)) + rounding * pair_rounding();
  }
}

double NetworkEngine::pair_rounding() const {
  return 2 * std::sqrt(static_cast<double>(parameters_ + 64) * 0x1p-52);
}

void NetworkEngine::add_gradient_pairs(Workspace& workspace,
                                       std::span<const double> gradient,
                                       std::span<const double> difference,
                                       std::span<double> sum) const {
  auto& s = static_cast<Scratch&>(workspace);
  SOTTO_CHECK(s.pairs && static_cast<std::int64_t>(sum.size()) == parameters_ &&
              static_cast<std::int64_t>(std::min(gradient.size(), difference.size())) >= s.count);
  for (const Trained& each : trained_) {
    double* total = open_total(each, s, sum);
    for (std::int64_t k = 0; k < s.count; ++k) {
      const double alpha = gradient[to_size(k)];
      const double beta = difference[to_size(k)];
      if (alpha == 0 && beta == 0) continue;
      const auto [place, is_summed] = member(s, k);
      if (!is_summed) {
        s.terms.push_back({place, alpha, beta});
        continue;
      }
      add_pair_terms(each, s, total);
      const auto g = summed(each, s, 0, place);
      const auto d = summed(each, s, 1, place);
      for (std::size_t j = 0; j < g.size(); ++j)
        total[j] += (alpha == 0 ? 0 : alpha * g[j]) + (beta == 0 ? 0 : beta * d[j]);
    }
    add_pair_terms(each, s, total);
    close_total(each, s, sum);
  }
}

/// A term is formed before it is added: where its two parts cancel, it must not bring the rounding
/// of large numbers into the sum. A part without weight must not matter, even where it is not
/// finite; a difference that is finite has finite parts.
void NetworkEngine::add_pair_terms(const Trained& trained, Scratch& s, double* total) const {
  const auto form = layers_[trained.layer]->gradient();
  const auto slot = to_size(trained_of_[trained.layer]);
  const auto& now = s.storage[0].slots[slot];
  const auto& then = s.storage[1].slots[slot];
  const bool dense = form.kind == GradientKind::kDense;
  const bool shared = shares_inputs(trained);
  s.rows.clear();
  s.more_rows.clear();
  s.weights.clear();
  s.more_weights.clear();
  s.left.clear();
  s.more_left.clear();
  if (!dense && s.zeros.size() < form.right) s.zeros = network::Buffer(form.right);
  for (const auto& [place, alpha, beta] : s.terms) {
    if (dense) {
      s.rows.push_back(now.dense.data() + place * form.dense);
      s.more_rows.push_back(beta == 0 ? s.rows.back() : then.dense.data() + place * form.dense);
      s.weights.push_back(alpha);
      s.more_weights.push_back(beta);
      continue;
    }
    s.rows.push_back(right_of(trained, s, place));
    if (!shared)
      s.more_rows.push_back(beta == 0 ? s.zeros.data() : then.right.data() + place * form.right);
    const float* slopes = now.left.data() + place * form.left;
    const float* slopes_before = then.left.data() + place * form.left;
    for (std::int64_t o = 0; o < form.outputs; ++o) {
      const double here = slopes[o];
      const double there = slopes_before[o];
      s.left.push_back((alpha == 0 ? 0 : alpha * here) + (beta == 0 ? 0 : beta * (here - there)));
      s.more_left.push_back(beta == 0 ? 0 : beta * there);
    }
  }
  s.terms.clear();
  const auto rows = std::ssize(s.rows);
  if (dense) {
    kernels_.add_row_pairs(s.rows.data(),
                           s.weights.data(),
                           s.more_rows.data(),
                           s.more_weights.data(),
                           rows,
                           form.dense,
                           total);
    return;
  }
  if (shared)
    kernels_.add_outer(
        s.left.data(), form.outputs, s.rows.data(), rows, form.outputs, form.right, total);
  else
    kernels_.add_outer_pairs(s.left.data(),
                             s.more_left.data(),
                             form.outputs,
                             s.rows.data(),
                             s.more_rows.data(),
                             rows,
                             form.outputs,
                             form.right,
                             total);
  add_biases(trained, s, rows, total);
}

}  // namespace sotto
