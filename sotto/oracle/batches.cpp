#include "sotto/oracle/batches.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sotto/core/check.hpp"

namespace sotto {

Batches::Batches(std::int64_t population, const SumShape& shape, Stream stream)
    : population_(population), shape_(shape), stream_(std::move(stream)) {}

PerExampleSum::Batch Batches::draw(const Sampling& sampling, SumKind kind) {
  if (drawn_.empty() || drawn_.back().sampling != sampling) drawn_.push_back({sampling, 0});
  ++drawn_.back().count;
  ++number_;
  const std::int64_t range = sum_geometry(shape_, kind, sampling.rate).range;
  switch (sampling.kind) {
    case Sampling::Kind::kFull:
      return {};
    case Sampling::Kind::kPoisson:
      if (!poisson_ || poisson_->rate() != sampling.rate)
        poisson_.emplace(population_, sampling.rate);
      indices_.clear();
      for (std::int64_t begin = 0; begin < population_; begin += range) {
        const std::int64_t end = std::min(begin + range, population_);
        stream_.go_to(
            number_, static_cast<std::uint64_t>(begin / range), poisson_->bytes_for(end - begin));
        poisson_->draw_range(stream_, begin, end, indices_);
      }
      return {false, indices_, range};
    case Sampling::Kind::kFixedSize:
      // No range is independent of the others: one place for the whole batch.
      SOTTO_CHECK(sampling.population == population_);
      if (!fixed_size_ || fixed_size_->batch() != sampling.batch)
        fixed_size_.emplace(sampling.batch, population_);
      stream_.go_to(number_, 0);
      fixed_size_->draw(stream_, indices_);
      return {false, indices_, range};
  }
  SOTTO_CHECK(false);
  return {};
}

void Batches::Drawn::archive(Archive& state) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  auto kind = static_cast<std::int64_t>(sampling.kind);
  state("kind", kind, 0, 2)("rate", sampling.rate, 0, 1)("batch", sampling.batch, 0, kMost)(
      "population", sampling.population, 0, kMost)("count", count, 1, kMost);
  sampling.kind = static_cast<Sampling::Kind>(kind);
}

void Batches::archive(Archive& state) {
  constexpr std::size_t kMostKinds = 1 << 20;
  state("drawn", drawn_, kMostKinds);
  if (!state.loading()) return;
  number_ = 0;
  for (const Drawn& each : drawn_) number_ += static_cast<std::uint64_t>(each.count);
}

void archive_position(Archive& state, Stream& stream) {
  if (!stream.insecure()) return;
  auto position = static_cast<std::int64_t>(stream.position());
  state("position", position, 0, std::numeric_limits<std::int64_t>::max());
  if (state.loading()) stream.skip_to(static_cast<std::uint64_t>(position));
}

}  // namespace sotto
