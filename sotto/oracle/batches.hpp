#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sotto/core/archive.hpp"
#include "sotto/oracle/api/sum_geometry.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/privacy/sampling.hpp"
#include "sotto/random/batch_sampler.hpp"
#include "sotto/random/stream.hpp"

namespace sotto {

/// Draws the batches that a Sampling names. The sampler is made from the same value as the charged
/// event, so that what ran and what was priced can't differ.
///
/// Every range of units (api/sum_geometry.hpp) of every batch is drawn from bytes of its own, so
/// that a range's members can be drawn again anywhere: they depend on the key, the number of the
/// batch and the range's number, not on what was drawn before.
class Batches {
 public:
  Batches(std::int64_t population, const SumShape& shape, Stream stream);

  /// The batch stays valid until the next call. It is as secret as the noise. `kind`: what will be
  /// summed over it.
  PerExampleSum::Batch draw(const Sampling& sampling, SumKind kind = SumKind::kVector);

  /// How often each kind of batch was really drawn: public, and what `sotto verify` holds against
  /// the charged events.
  struct Drawn {
    Sampling sampling;
    std::int64_t count;
    void archive(Archive& state);
  };
  const std::vector<Drawn>& drawn() const { return drawn_; }

  /// What a continued run needs: the counts, which say the next batch's number. Never a batch.
  void archive(Archive& state);

 private:
  std::int64_t population_;
  SumShape shape_;
  Stream stream_;
  std::uint64_t number_ = 0;  ///< of the batch drawn last; the first is 1
  std::optional<PoissonBatchSampler> poisson_;
  std::optional<FixedSizeBatchSampler> fixed_size_;
  std::vector<std::int64_t> indices_;
  std::vector<Drawn> drawn_;
};

/// A seeded stream's place; of a secure stream nothing is ever written down.
void archive_position(Archive& state, Stream& stream);

}  // namespace sotto
