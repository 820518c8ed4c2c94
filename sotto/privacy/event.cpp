#include "sotto/privacy/event.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

namespace sotto {
namespace {

template <class... Ts>
struct Overload : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overload(Ts...) -> Overload<Ts...>;

EventPtr share(Event event) { return std::make_shared<const Event>(std::move(event)); }

Expected<void> check_not_negative(std::string_view event, std::string_view name, double value) {
  if (value >= 0) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("the {} of {} must be a number >= 0, but is {}.", name, event, value));
}

// Walks the tree; `relation` is that of the first leaf met.
Expected<void> check_node(const Event& event, std::optional<Relation>& relation) {
  const auto leaf = [&](Relation own) -> Expected<void> {
    if (relation && *relation != own) {
      return fail(ErrorKind::kUsage,
                  fmt::format("an event mixes the neighbouring relations {} and {}; noise is "
                              "measured in another unit under each. Use one relation for all "
                              "parts.",
                              to_string(*relation),
                              to_string(own)));
    }
    relation = own;
    return {};
  };
  return std::visit(
      Overload{
          [&](const GaussianEvent& e) -> Expected<void> {
            SOTTO_TRY(check_not_negative("gaussian", "noise multiplier", e.noise_multiplier));
            return leaf(e.relation);
          },
          [&](const LaplaceEvent& e) -> Expected<void> {
            SOTTO_TRY(check_not_negative("laplace", "noise multiplier", e.noise_multiplier));
            return leaf(e.relation);
          },
          [&](const ExponentialEvent& e) -> Expected<void> {
            SOTTO_TRY(check_not_negative("exponential", "epsilon", e.epsilon));
            return leaf(e.relation);
          },
          [&](const SparseVectorEvent& e) -> Expected<void> {
            SOTTO_TRY(check_not_negative("sparse_vector", "epsilon", e.epsilon));
            return leaf(e.relation);
          },
          [&](const NonPrivateEvent& e) -> Expected<void> { return leaf(e.relation); },
          [&](const PoissonEvent& e) -> Expected<void> {
            if (!(e.rate >= 0 && e.rate <= 1)) {
              return fail(ErrorKind::kUsage,
                          fmt::format("the rate of poisson must lie in [0, 1], but is {}. Give "
                                      "expected batch / number of records, for example 0.01.",
                                      e.rate));
            }
            return check_node(*e.inner, relation);
          },
          [&](const FixedSizeEvent& e) -> Expected<void> {
            if (e.population < 1 || e.batch < 0 || e.batch > e.population) {
              return fail(ErrorKind::kUsage,
                          fmt::format("fixed_size(batch, population, ...) needs 0 <= batch <= "
                                      "population and population >= 1, but got {} and {}.",
                                      e.batch,
                                      e.population));
            }
            return check_node(*e.inner, relation);
          },
          [&](const RepeatEvent& e) -> Expected<void> {
            if (e.count < 0) {
              return fail(ErrorKind::kUsage,
                          fmt::format("the count of repeat must be >= 0, but is {}.", e.count));
            }
            return check_node(*e.inner, relation);
          },
          [&](const ComposeEvent& e) -> Expected<void> {
            for (const Event& part : e.parts) SOTTO_TRY(check_node(part, relation));
            return {};
          },
      },
      event.node());
}

}  // namespace

Event Event::gaussian(double noise_multiplier, Relation relation) {
  return Event(GaussianEvent{noise_multiplier, relation});
}
Event Event::laplace(double noise_multiplier, Relation relation) {
  return Event(LaplaceEvent{noise_multiplier, relation});
}
Event Event::exponential(double epsilon, Relation relation) {
  return Event(ExponentialEvent{epsilon, relation});
}
Event Event::sparse_vector(double epsilon, Relation relation) {
  return Event(SparseVectorEvent{epsilon, relation});
}
Event Event::non_private(Relation relation) { return Event(NonPrivateEvent{relation}); }
Event Event::poisson(double rate, Event inner) {
  return Event(PoissonEvent{rate, share(std::move(inner))});
}
Event Event::fixed_size(std::int64_t batch, std::int64_t population, Event inner) {
  return Event(FixedSizeEvent{batch, population, share(std::move(inner))});
}
Event Event::repeat(std::int64_t count, Event inner) {
  return Event(RepeatEvent{count, share(std::move(inner))});
}
Event Event::compose(std::vector<Event> parts) { return Event(ComposeEvent{std::move(parts)}); }

Expected<void> Event::check() const {
  std::optional<Relation> relation;
  return check_node(*this, relation);
}

}  // namespace sotto
