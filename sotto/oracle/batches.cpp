#include "sotto/oracle/batches.hpp"

#include <limits>
#include <utility>

#include "sotto/core/check.hpp"

namespace sotto {

Batches::Batches(std::int64_t population, Stream stream)
    : population_(population), stream_(std::move(stream)) {}

PerExampleSum::Batch Batches::draw(const Sampling& sampling) {
  if (drawn_.empty() || drawn_.back().sampling != sampling) drawn_.push_back({sampling, 0});
  ++drawn_.back().count;
  switch (sampling.kind) {
    case Sampling::Kind::kFull:
      return {};
    case Sampling::Kind::kPoisson:
      if (!poisson_ || poisson_->rate() != sampling.rate)
        poisson_.emplace(population_, sampling.rate);
      poisson_->draw(stream_, indices_);
      return {false, indices_};
    case Sampling::Kind::kFixedSize:
      SOTTO_CHECK(sampling.population == population_);
      if (!fixed_size_ || fixed_size_->batch() != sampling.batch)
        fixed_size_.emplace(sampling.batch, population_);
      fixed_size_->draw(stream_, indices_);
      return {false, indices_};
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
  archive_position(state, stream_);
}

void archive_position(Archive& state, Stream& stream) {
  if (!stream.insecure()) return;
  auto position = static_cast<std::int64_t>(stream.position());
  state("position", position, 0, std::numeric_limits<std::int64_t>::max());
  if (state.loading()) stream.skip_to(static_cast<std::uint64_t>(position));
}

}  // namespace sotto
