#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sotto/core/archive.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/privacy/sampling.hpp"
#include "sotto/random/batch_sampler.hpp"
#include "sotto/random/stream.hpp"

namespace sotto {

/// Draws the batches that a Sampling names. The sampler is made from the same value as the charged
/// event, so that what ran and what was priced can't differ.
class Batches {
 public:
  Batches(std::int64_t population, Stream stream);

  /// The batch stays valid until the next call. It is as secret as the noise.
  PerExampleSum::Batch draw(const Sampling& sampling);

  /// How often each kind of batch was really drawn: public, and what `sotto verify` holds against
  /// the charged events.
  struct Drawn {
    Sampling sampling;
    std::int64_t count;
    void archive(Archive& state);
  };
  const std::vector<Drawn>& drawn() const { return drawn_; }

  /// What a continued run needs: the counts and, with a seed, the stream's place. Never a batch.
  void archive(Archive& state);

 private:
  std::int64_t population_;
  Stream stream_;
  std::optional<PoissonBatchSampler> poisson_;
  std::optional<FixedSizeBatchSampler> fixed_size_;
  std::vector<std::int64_t> indices_;
  std::vector<Drawn> drawn_;
};

/// A seeded stream's place; of a secure stream nothing is ever written down.
void archive_position(Archive& state, Stream& stream);

}  // namespace sotto
