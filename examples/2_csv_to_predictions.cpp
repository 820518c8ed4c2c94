// From a CSV file to predictions for other people:
//   example_2_csv_to_predictions schema.toml train.csv model.json others.csv

#include <cstdio>

#include "sotto/sotto.hpp"

int main(int count, char** words) {
  if (count != 5) return std::fprintf(stderr, "give a schema, rows, a model, other rows\n"), 2;
  sotto::TaskOptions what;
  what.rows.schema = words[1];
  what.rows.path = words[2];
  what.rows.bias = true;  // an intercept, which the command adds unless told otherwise
  sotto::TrainOptions how;
  how.epsilon = 1;
  how.delta = 1e-6;
  how.journal_path = std::string(words[3]) + ".journal";
  auto task = sotto::Task::open(what);
  auto trained = task.and_then([&](auto& opened) { return sotto::train(opened, how); });
  auto kept = trained.and_then([&](auto& run) { return run.keep(words[3]); });
  auto rows = kept.and_then([&] { return task->read_public(words[4]); });
  auto known = rows.and_then([&](auto& read) { return task->predict(read, trained->model.w); });
  if (!known) return std::fprintf(stderr, "%s\n", known.error().message.c_str()), 1;
  for (const auto& each : *known) std::printf("%s\n", each.c_str());
}

// The noise is fresh each time, as it must be; the second person is a close case.
//
// Output, with the files of `sotto demo`:
//   low
//   low or high
//   low
//   high
//   ...
