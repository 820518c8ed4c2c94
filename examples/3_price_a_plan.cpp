// What would a run cost, and how noisy would it be? From declarations alone: no row is read, and
// nothing is spent.

#include <cstdio>

#include "sotto/sotto.hpp"

int main() {
  using namespace sotto;

  TaskOptions what;
  what.public_n = 50'000;
  what.rows.dim = 100;
  what.rows.row_norm = 1;  // longer rows would be scaled down to it
  const auto task = Task::declare(what);
  if (!task) return std::fprintf(stderr, "%s\n", task.error().message.c_str()), 1;

  for (const char* method : {"dp-gd", "dp-sgd"}) {
    TrainOptions how;
    how.method = method;
    how.epsilon = 1;
    how.delta = 1e-6;
    const auto run = prepare(*task, how);
    if (!run) return std::fprintf(stderr, "%s\n", run.error().message.c_str()), 1;
    const std::string by(run->accountant->name());
    std::printf("%s: noise multiplier %.3f, epsilon %.4f by %s\n",
                method,
                run->noise_multiplier,
                run->epsilon_planned,
                by.c_str());
  }

  // The same for releases of one's own: an event says what was released, accountants say what it
  // costs.
  const auto event = parse_event("repeat(1000, poisson(0.01, gaussian(1.1)))", Relation::kZeroOut);
  const auto releases = event.and_then([](const Event& each) { return canonical(each); });
  for (const Accountant* accountant : accountants()) {
    const auto price = accountant->epsilon_upper(*releases, 1e-6);
    if (!price) continue;  // it has no theorem for batches
    const std::string name(accountant->name());
    std::printf("1000 noisy batches: epsilon %.2f by %s\n", *price, name.c_str());
  }
}

// Output:
//   dp-gd: noise multiplier 84.494, epsilon 1.0000 by gaussian
//   dp-sgd: noise multiplier 3.196, epsilon 1.0000 by pld
//   1000 noisy batches: epsilon 1.98 by rdp
//   1000 noisy batches: epsilon 1.75 by pld
