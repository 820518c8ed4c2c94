#pragma once

#include <vector>

#include "sotto/oracle/api/oracle.hpp"

namespace sotto::testing {

/// Passes queries on and remembers what each would have been charged.
class RecordingOracle final : public Oracle {
 public:
  explicit RecordingOracle(Oracle& inner) : inner_(inner) {}

  const PublicProblem& problem() const override { return inner_.problem(); }
  Expected<Released<Vector>> gradient(const GradientQuery& query) override {
    record(query, problem().dimension + (query.count_share > 0 ? 1 : 0));
    return inner_.gradient(query);
  }
  Expected<Released<Vector>> gradient_pair(const GradientPairQuery& query) override {
    record(query, problem().dimension);
    return inner_.gradient_pair(query);
  }
  Expected<Released<std::int64_t>> select(const SelectionQuery& query) override {
    record(query, 1);
    return inner_.select(query);
  }
  Expected<Released<double>> loss(const LossQuery& query) override {
    record(query, 1);
    return inner_.loss(query);
  }

  double gradient_sigma(const GradientQuery& query) const override {
    return inner_.gradient_sigma(query);
  }
  Expected<Released<NoisyHessian>> hessian(const HessianQuery& query) override {
    record(query, samples_of(query, problem().dimension));
    return inner_.hessian(query);
  }
  Expected<Released<NoisyGradientHessian>> gradient_and_hessian(const JointQuery& query) override {
    record(query, samples_of(query, problem().dimension));
    return inner_.gradient_and_hessian(query);
  }
  Expected<std::unique_ptr<NoisyOperator>> hessian_operator(
      const HessianOperatorQuery& query) override {
    record(query, samples_of(query, problem().dimension));
    return inner_.hessian_operator(query);
  }
  Expected<Released<std::int64_t>> first_decrease(const DecreaseQuery& query) override {
    record(query, samples_of(query, problem().dimension));
    return inner_.first_decrease(query);
  }

  Expected<Released<Vertex>> select_vertex(const VertexQuery& query) override {
    record(query, 1);
    return inner_.select_vertex(query);
  }
  Expected<Released<std::int64_t>> select_listed_vertex(const ListedVertexQuery& query) override {
    record(query, 1);
    return inner_.select_listed_vertex(query);
  }
  Expected<Released<NoisyGap>> gap(const GapQuery& query) override {
    record(query, 1);
    return inner_.gap(query);
  }

  Event spent() const { return Event::compose(events_); }
  std::int64_t samples() const { return samples_; }

 private:
  template <class Query>
  void record(const Query& query, std::int64_t samples) {
    events_.push_back(event_of(query, problem().relation));
    samples_ += samples;
  }

  Oracle& inner_;
  std::vector<Event> events_;
  std::int64_t samples_ = 0;
};

}  // namespace sotto::testing
