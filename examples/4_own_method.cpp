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
  std::printf("%s: noise multiplier %.3f, %lld steps charged at epsilon %.3f\n",
              trained->record.method.c_str(),
              trained->record.noise_multiplier,
              static_cast<long long>(trained->record.steps),
              trained->record.privacy.epsilon);
  std::printf("accuracy %.3f\n", metrics->accuracy);
}

// Output:
//   normalized-descent: noise multiplier 26.719, 40 steps charged at epsilon 1.000
//   accuracy 0.823
