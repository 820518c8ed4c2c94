// Trains a private logistic regression on made-up census records, as a program would.

#include <cstdio>

#include "sotto/sotto.hpp"

int main() {
  using namespace sotto;

  // Private rows of a program's own; Task::open reads a file.
  CensusData people = make_census(20'000, /*seed=*/1, /*part=*/0);
  const CensusData others = make_census(10'000, /*seed=*/1, /*part=*/1);
  TaskOptions what;
  what.loss = {LossKind::kLogistic};
  auto task = Task::of(std::move(people.data), what);
  if (!task) return std::fprintf(stderr, "%s\n", task.error().message.c_str()), 1;

  TrainOptions how;
  how.method = "dp-gd";
  how.epsilon = 1;
  how.delta = 1e-6;
  const auto trained = train(*task, how);
  if (!trained) return std::fprintf(stderr, "%s\n", trained.error().message.c_str()), 1;

  // Public rows: what is said about them is exact.
  const auto metrics = task->evaluate(others.data, trained->model.w);
  std::printf("%s\n", brief(trained->record).c_str());
  std::printf("test accuracy above 80 %%: %s\n", metrics->accuracy > 0.8 ? "yes" : "no");
  return metrics->accuracy > 0.8 ? 0 : 1;
}

// Expected output:
//   dp-gd: 400 steps, epsilon 1 of 1 (delta 1e-06, zero-out, gaussian), stopped: plan complete
//   test accuracy above 80 %: yes
