#pragma once

// Events say what was released; accountants say what it costs (privacy/accountant.hpp). An event is
// plain data: nothing here prices anything.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/privacy/neighbours.hpp"

namespace sotto {

class Event;
using EventPtr = std::shared_ptr<const Event>;

/// A value plus Gaussian noise of standard deviation noise_multiplier x its L2 sensitivity under
/// `relation` (clip radius C for zero-out and add-remove, 2C for replace-one).
struct GaussianEvent {
  double noise_multiplier;
  Relation relation;
};
/// A value plus Laplace noise of scale noise_multiplier x its L1 sensitivity:
/// (1/noise_multiplier)-DP.
struct LaplaceEvent {
  double noise_multiplier;
  Relation relation;
};
/// A selection that is `epsilon`-bounded-range, e.g. the exponential mechanism with exponent
/// epsilon u / (2 sensitivity): epsilon-DP and epsilon^2/8-zCDP.
struct ExponentialEvent {
  double epsilon;
  Relation relation;
};
/// AboveThreshold, at most one positive answer: epsilon-DP in all, paid when the session opens.
struct SparseVectorEvent {
  double epsilon;
  Relation relation;
};
/// A release without any guarantee; costs infinity.
struct NonPrivateEvent {
  Relation relation;
};
/// `inner` on a batch that contains each record independently with probability `rate`.
struct PoissonEvent {
  double rate;
  EventPtr inner;
};
/// `inner` on a uniformly random batch of exactly `batch` of `population` records.
struct FixedSizeEvent {
  std::int64_t batch;
  std::int64_t population;
  EventPtr inner;
};
/// `inner`, `count` times, each with fresh randomness; later ones may depend on earlier answers.
struct RepeatEvent {
  std::int64_t count;
  EventPtr inner;
};
/// All of `parts`, in order, adaptively.
struct ComposeEvent {
  std::vector<Event> parts;
};

class Event {
 public:
  using Node = std::variant<GaussianEvent,
                            LaplaceEvent,
                            ExponentialEvent,
                            SparseVectorEvent,
                            NonPrivateEvent,
                            PoissonEvent,
                            FixedSizeEvent,
                            RepeatEvent,
                            ComposeEvent>;

  static Event gaussian(double noise_multiplier, Relation relation);
  static Event laplace(double noise_multiplier, Relation relation);
  static Event exponential(double epsilon, Relation relation);
  static Event sparse_vector(double epsilon, Relation relation);
  static Event non_private(Relation relation);
  static Event poisson(double rate, Event inner);
  static Event fixed_size(std::int64_t batch, std::int64_t population, Event inner);
  static Event repeat(std::int64_t count, Event inner);
  static Event compose(std::vector<Event> parts);

  const Node& node() const { return node_; }

  /// Refuses parameters that have no meaning (a negative multiplier, a rate outside [0, 1], a NaN)
  /// and a mixture of relations, naming the offending part.
  Expected<void> check() const;

 private:
  // In place: moving a temporary variant sets off a false warning of g++ 12 under sanitizers.
  template <class Kind>
  explicit Event(Kind kind) : node_(std::in_place_type<Kind>, std::move(kind)) {}
  Node node_;
};

/// The grammar of `--event`, e.g. `repeat(1000, poisson(0.01, gaussian(1.1)))`; parse(to_string(e))
/// is e, to the last bit. The relation is given beside the text, once for all parts.
std::string to_string(const Event& event);
Expected<Event> parse_event(std::string_view text, Relation relation);

/// One kind of release, `count` times: what remains of an event once compose and repeat are
/// flattened.
struct Term {
  enum class Sampling { kFull, kPoisson, kFixedSize };
  enum class Mechanism { kGaussian, kLaplace, kExponential, kSparseVector, kNonPrivate };
  Sampling sampling = Sampling::kFull;
  double rate = 1;              ///< Poisson rate, or batch / population
  std::int64_t batch = 0;       ///< fixed size only
  std::int64_t population = 0;  ///< fixed size only
  Mechanism mechanism = Mechanism::kGaussian;
  double parameter = 0;  ///< noise multiplier, or epsilon for the last mechanisms
  std::int64_t count = 1;
};

/// Terms by what is released, whatever their counts.
struct TermOrder {
  bool operator()(const Term& a, const Term& b) const;
};

/// The canonical form: equal terms merged, in a fixed order, so that the same releases grouped in
/// another way cost exactly the same. Full-batch Gaussians stay one term per multiplier.
struct CanonicalEvent {
  Relation relation = Relation::kZeroOut;
  std::vector<Term> terms;
};

/// Fails where check() fails, and on a sampled composition that has no single dominating mechanism
/// (Gaussians on one batch merge into one; anything else is refused by name).
Expected<CanonicalEvent> canonical(const Event& event);
Event to_event(const CanonicalEvent& canonical);
/// A term in the grammar of events, without its count: for messages.
std::string to_string(const Term& term);

}  // namespace sotto
