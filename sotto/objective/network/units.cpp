// Persons: units of several rows. The gradient of one is the sum of its rows' in float64. It is
// made before it joins others, as one vector per unit, because the bound on a sum's rounding counts
// units (oracle/per_example_sum.proof.md); so its norm can be that of the very numbers that are
// added, and needs no bound on how much of the rows' gradients cancels (network.proof.md).

#include <cmath>

#include "sotto/core/check.hpp"
#include "sotto/objective/network/unit_blocks.hpp"

namespace sotto {

using network::to_size;

NetworkEngine::Member NetworkEngine::member(const Scratch& s, std::int64_t k) const {
  return s.members.empty() ? Member{k, false} : s.members[to_size(k)];
}

/// Where each unit's gradient will be, with sums of 0.
void NetworkEngine::select_members(const Block& block, Scratch& s) const {
  s.members.clear();
  s.single_rows.clear();
  std::int64_t sums = 0;
  for (std::int64_t k = 0; k < block.count; ++k) {
    const std::int64_t row = table_.unit_begin(block[k]);
    if (table_.unit_begin(block[k] + 1) - row == 1) {
      s.members.push_back({std::ssize(s.single_rows), false});
      s.single_rows.push_back(row);
    } else {
      s.members.push_back({sums++, true});
    }
  }
  s.sums[0].assign(to_size(sums * summed_size_), 0.0);
  if (s.pairs) s.sums[1].assign(to_size(sums * summed_size_), 0.0);
}

std::span<double> NetworkEngine::summed(const Trained& trained,
                                        Scratch& s,
                                        std::size_t which,
                                        std::int64_t place) const {
  return {s.sums[which].data() + place * summed_size_ + trained.summed, trained.places.size()};
}

std::span<const double> NetworkEngine::summed(const Trained& trained,
                                              const Scratch& s,
                                              std::size_t which,
                                              std::int64_t place) const {
  return {s.sums[which].data() + place * summed_size_ + trained.summed, trained.places.size()};
}

/// The rows of the chunk, which are behind the block's places, each to the sum of its unit.
void NetworkEngine::add_chunk_to_sums(Scratch& s) const {
  const std::int64_t rows = std::ssize(s.chunk_units);
  for (std::int64_t begin = 0, end = 0; begin < rows; begin = end) {
    const std::int64_t unit = s.chunk_units[to_size(begin)];
    while (end < rows && s.chunk_units[to_size(end)] == unit) ++end;
    const std::int64_t place = member(s, unit).place;
    for (const Trained& each : trained_) {
      for (std::int64_t e = begin; e < end; ++e) s.terms.push_back({block_size_ + e, 1, 0});
      add_terms(each, s, summed(each, s, 0, place).data());
      if (!s.pairs) continue;
      for (std::int64_t e = begin; e < end; ++e) s.terms.push_back({block_size_ + e, 0, 1});
      add_pair_terms(each, s, summed(each, s, 1, place).data());
    }
  }
}

/// ‖α g + β (g - g')‖² of one layer of a summed unit, and a bound on what rounding may add to its
/// norm.
double NetworkEngine::summed_pair_square(const Trained& trained,
                                         const Scratch& s,
                                         double gradient,
                                         double difference,
                                         std::int64_t place,
                                         double& rounding) const {
  const std::span<const double> g = summed(trained, s, 0, place);
  const std::span<const double> d = summed(trained, s, 1, place);
  if (difference == 0) return gradient * gradient * network::sum_squares(g);
  if (gradient == 0) return difference * difference * network::sum_squares(d);
  double squares = 0;
  double sizes = 0;
  for (std::size_t j = 0; j < g.size(); ++j) {
    const double a = gradient * g[j];
    const double b = difference * d[j];
    squares += (a + b) * (a + b);
    sizes += a * a + b * b;
  }
  rounding += std::sqrt(2 * sizes);
  return squares;
}

void NetworkEngine::evaluate_gradients(const Block& block,
                                       std::span<const double> w,
                                       Workspace& workspace,
                                       std::span<double> norms) const {
  SOTTO_CHECK(block.count <= block_size_ && static_cast<std::int64_t>(norms.size()) >= block.count);
  auto& s = static_cast<Scratch&>(workspace);
  const Point& point = point_at(w, s, 0);
  s.pairs = false;
  run_block(
      block, s, [&](const Block& rows, std::int64_t begin, std::int64_t count, std::int64_t place) {
        run_chunk(point, rows, begin, count, place, s.storage[0], s);
      });
  for (std::int64_t k = 0; k < block.count; ++k) {
    double squares = 0;
    for (const Trained& each : trained_) squares += square(each, s, member(s, k));
    norms[to_size(k)] = round_up(std::sqrt(squares));
  }
}

void NetworkEngine::evaluate_losses(const Block& block,
                                    std::span<const double> w,
                                    Workspace& workspace,
                                    std::span<double> losses) const {
  SOTTO_CHECK(static_cast<std::int64_t>(losses.size()) >= block.count);
  auto& s = static_cast<Scratch&>(workspace);
  const Point& point = point_at(w, s, 0);
  s.count = 0;  // gradients of another block: nothing to add until the next evaluation
  if (!table_.has_units()) {
    for (std::int64_t begin = 0; begin < block.count; begin += kChunk) {
      const std::int64_t count = std::min(kChunk, block.count - begin);
      forward(point, block, begin, count, 0, s);
      for (std::int64_t e = 0; e < count; ++e)
        losses[to_size(begin + e)] = loss_of(s.value_of.back()(e), label_of(block[begin + e]));
    }
    return;
  }
  for (std::int64_t k = 0; k < block.count; ++k) losses[to_size(k)] = 0;
  const auto every = [](std::int64_t) { return true; };
  for_each_row_chunk(block, s, every, [&](const Block& rows) {
    forward(point, rows, 0, rows.count, 0, s);
    for (std::int64_t e = 0; e < rows.count; ++e)
      losses[to_size(s.chunk_units[to_size(e)])] +=
          loss_of(s.value_of.back()(e), label_of(rows[e]));
  });
}

}  // namespace sotto
