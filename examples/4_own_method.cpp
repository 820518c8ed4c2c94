// Trains with a method of one's own (normalized_descent.hpp): calibrated, charged and recorded as
// ours are.

#include <cstdio>

#include "normalized_descent.hpp"
#include "sotto/sotto.hpp"

int main() {
  using namespace sotto;

  CensusData people = make_census(20'000, /*seed=*/1, /*part=*/0);
  const CensusData others = make_census(10'000, /*seed=*/1, /*part=*/1);
  auto task = Task::of(std::move(people.data), {});
  if (!task) return std::fprintf(stderr, "%s\n", task.error().message.c_str()), 1;

  const MethodInfo method = examples::normalized_descent();
  TrainOptions how;
  how.unlisted = &method;
  how.options = {{"steps", "40"}};
  how.epsilon = 1;
  how.delta = 1e-6;
  how.seed = 1;  // for the output below alone: whoever knows a seed can subtract the noise
  const auto trained = train(*task, how);
  if (!trained) return std::fprintf(stderr, "%s\n", trained.error().message.c_str()), 1;

  const auto metrics = task->evaluate(others.data, trained->model.w);
  std::printf("%s\n", brief(trained->record).c_str());
  std::printf("charged: %s\n", trained->record.privacy.events.c_str());
  std::printf("accuracy %.3f\n", metrics->accuracy);
}

// clang-format off
// Output:
//   normalized-descent: 40 steps, epsilon 1 of 1 IF ITS SEED IS SECRET (delta 1e-06, zero-out, gaussian), stopped: plan complete
//   charged: repeat(40, gaussian(26.719215351874876))
//   accuracy 0.823
