#include "sotto/oracle/batches.hpp"

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

}  // namespace sotto
