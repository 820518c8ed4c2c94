#pragma once

#include <cstdint>
#include <vector>

#include "sotto/random/binomial.hpp"
#include "sotto/random/stream.hpp"

namespace sotto {

/// Draws batches in which every unit of a population is present independently with probability
/// `rate`: the law that Poisson amplification theorems ask for.
///
/// The rate is the given one to the last bit (a rate below 2^-75 is rounded down to a multiple of
/// 2^-128), so the priced rate is never below the real one. The law of a batch is exact for rates
/// above 1/16, and within total variation population x 2^-114 + 2^-85 of the ideal one otherwise
/// (batch_sampler.proof.md).
/// Cost: O(1 + expected batch) a draw for rates up to 1/16, O(population) above. The time shows the
/// size of a batch, not its members.
class PoissonBatchSampler {
 public:
  /// population in [0, 2^40], rate in [0, 1].
  PoissonBatchSampler(std::int64_t population, double rate);

  /// Replaces `batch` by the indices of one batch, increasing; possibly none. Allocates only while
  /// `batch` grows beyond its largest size so far.
  void draw(Stream& stream, std::vector<std::int64_t>& batch) const;

  /// Appends to `batch` its members among the units begin … end - 1. Batches of disjoint ranges,
  /// drawn with disjoint bytes, make up a batch of the whole.
  void draw_range(Stream& stream,
                  std::int64_t begin,
                  std::int64_t end,
                  std::vector<std::int64_t>& batch) const;

  /// How many bytes of the stream a range of so many units takes, about.
  std::size_t bytes_for(std::int64_t units) const;

  std::int64_t population() const { return population_; }
  double rate() const { return rate_; }

 private:
  void draw_by_block(Stream& stream,
                     std::int64_t begin,
                     std::int64_t end,
                     std::vector<std::int64_t>& batch) const;
  void draw_by_unit(Stream& stream,
                    std::int64_t begin,
                    std::int64_t end,
                    std::vector<std::int64_t>& batch) const;
  void place_with_bitmap(Stream& stream,
                         std::int64_t start,
                         std::size_t members,
                         std::vector<std::int64_t>& batch) const;
  void place_in_order(Stream& stream,
                      std::int64_t start,
                      std::size_t members,
                      std::vector<std::int64_t>& batch) const;

  std::int64_t population_;
  double rate_;
  int block_bits_ = 0;                           // blocks of 2^block_bits_ units, on average 4 to 8
  std::vector<internal::Fraction> members_cdf_;  // of which are in the batch
};

/// Draws batches of exactly `batch` of `population` units, every such set with the same
/// probability, exactly.
///
/// Cost: O(batch) a draw and a bitmap of the population if batch >= population / 1024, otherwise
/// O(batch log batch) without one.
class FixedSizeBatchSampler {
 public:
  /// 0 <= batch <= population.
  FixedSizeBatchSampler(std::int64_t batch, std::int64_t population);

  /// Replaces `batch` by the indices of one batch, increasing. Allocates only if `batch` has less
  /// room than that.
  void draw(Stream& stream, std::vector<std::int64_t>& batch);

  std::int64_t batch() const { return batch_; }
  std::int64_t population() const { return population_; }

 private:
  void draw_with_bitmap(Stream& stream, std::vector<std::int64_t>& batch);
  void draw_with_sort(Stream& stream, std::vector<std::int64_t>& batch) const;

  std::int64_t batch_;
  std::int64_t population_;
  std::vector<std::uint64_t> bitmap_;  // a bit a unit; empty if the units are sorted instead
};

}  // namespace sotto
