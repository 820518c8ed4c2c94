#include "sotto/privacy/sampling.hpp"

#include <fmt/format.h>

#include <utility>

#include "sotto/core/check.hpp"

namespace sotto {

Event Sampling::applied_to(Event inner) const {
  switch (kind) {
    case Kind::kFull:
      return inner;
    case Kind::kPoisson:
      return Event::poisson(rate, std::move(inner));
    case Kind::kFixedSize:
      return Event::fixed_size(batch, population, std::move(inner));
  }
  SOTTO_CHECK(false);
  return inner;
}

std::string to_string(const Sampling& sampling) {
  switch (sampling.kind) {
    case Sampling::Kind::kFull:
      return "full";
    case Sampling::Kind::kPoisson:
      return fmt::format("poisson({})", sampling.rate);
    case Sampling::Kind::kFixedSize:
      return fmt::format("fixed_size({}, {})", sampling.batch, sampling.population);
  }
  SOTTO_CHECK(false);
  return {};
}

}  // namespace sotto
