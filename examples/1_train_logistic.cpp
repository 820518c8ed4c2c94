// Trains a private logistic regression on rows that the program has already; Task::open reads a
// file.

#include <cstdio>

#include "sotto/sotto.hpp"

int main() {
  using namespace sotto;

  CensusData people = make_census(20'000, /*seed=*/1, /*part=*/0);
  const CensusData others = make_census(10'000, /*seed=*/1, /*part=*/1);
  TaskOptions what;
  what.loss = LossKind::kLogistic;
  auto task = Task::of(std::move(people.data), what);
  if (!task) return std::fprintf(stderr, "%s\n", task.error().message.c_str()), 1;

  TrainOptions how;
  how.method = "dp-gd";
  how.epsilon = 1;
  how.delta = 1e-6;
  how.seed = 1;  // for the output below alone: whoever knows a seed can subtract the noise
  const auto trained = train(*task, how);
  if (!trained) return std::fprintf(stderr, "%s\n", trained.error().message.c_str()), 1;

  // Public rows: what is said about them is exact.
  const auto metrics = task->evaluate(others.data, trained->model.w);
  std::printf("epsilon %.3f at delta %g, %lld steps\n",
              trained->record.privacy.epsilon,
              trained->record.privacy.delta,
              static_cast<long long>(trained->record.steps));
  std::printf("accuracy %.3f, AUC %.3f\n", metrics->accuracy, metrics->auc);
}

// Output:
//   epsilon 1.000 at delta 1e-06, 400 steps
//   accuracy 0.835, AUC 0.914
