#pragma once

#include <cstdint>
#include <functional>

namespace sotto {

/// Number of threads that parallel loops use; 0 means one a hardware core. Set once at start-up
/// (`--threads`); results never depend on it.
void set_thread_count(int count);
int thread_count();

/// Calls body(task, worker) for every task in [0, tasks), spread over at most `workers` threads
/// (0: thread_count()); worker is in [0, workers) and no two calls with the same worker overlap, so
/// that it may index scratch memory. Tasks are handed out in order but finish in any order: a
/// result that must not depend on timing is stored by task, or added exactly (integers).
/// A body that throws ends the loop: no further task is begun, and the first exception is thrown
/// again here once all threads have left.
void parallel_for(std::int64_t tasks,
                  const std::function<void(std::int64_t task, int worker)>& body,
                  int workers = 0);

}  // namespace sotto
