// A loss of one's own: Savage's, 1 / (1 + e^m)^2 of the margin m = y z, which gives up on rows that
// are far on the wrong side. It is bounded and not convex.
//
// The functions see private numbers, so they are functions without state and do nothing but
// compute. The bounds are this program's word: they set defaults, never noise. A term is bounded by
// clipping alone, so that a wrong bound, or a wrong derivative, costs accuracy and not privacy.

#include <cmath>
#include <cstdio>

#include "sotto/sotto.hpp"

namespace {

double wrong_side(double m) { return 1 / (1 + std::exp(m)); }

sotto::OwnLoss savage() {
  sotto::OwnLoss loss;
  loss.name = "savage";
  loss.classification = true;
  loss.value = [](double z, double y) noexcept {
    const double s = wrong_side(y * z);
    return s * s;
  };
  loss.first = [](double z, double y) noexcept {
    const double s = wrong_side(y * z);
    return -2 * y * s * s * (1 - s);
  };
  loss.second = [](double z, double y) noexcept {
    const double s = wrong_side(y * z);
    return 2 * s * s * (1 - s) * (2 - 3 * s);
  };
  loss.sup_first = 8.0 / 27;
  loss.inf_second = -0.1203;
  loss.sup_second = 0.1541;
  loss.sup_third = 0.2021;
  loss.typical_first = 0.25;  // at the margin 0, where training starts
  return loss;
}

}  // namespace

int main() {
  using namespace sotto;

  CensusData people = make_census(20'000, /*seed=*/1, /*part=*/0);
  const CensusData others = make_census(10'000, /*seed=*/1, /*part=*/1);
  TaskOptions what;
  what.loss = savage();
  auto task = Task::of(std::move(people.data), what);
  if (!task) return std::fprintf(stderr, "%s\n", task.error().message.c_str()), 1;

  TrainOptions how;
  how.epsilon = 1;
  how.delta = 1e-6;
  how.seed = 1;  // for the output below alone: whoever knows a seed can subtract the noise
  const auto trained = train(*task, how);
  if (!trained) return std::fprintf(stderr, "%s\n", trained.error().message.c_str()), 1;

  const auto metrics = task->evaluate(others.data, trained->model.w);
  std::printf("%s: epsilon %.3f, accuracy %.3f, mean loss %.3f\n",
              to_string(trained->model.loss).c_str(),
              trained->record.privacy.epsilon,
              metrics->accuracy,
              metrics->loss);
}

// Output:
//   own:savage: epsilon 1.000, accuracy 0.834, mean loss 0.113
