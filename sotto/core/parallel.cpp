#include "sotto/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace sotto {
namespace {

std::atomic<int> configured_threads{0};

/// How often a thread looks for news before it sleeps: some 50 microseconds. To wake a sleeper
/// costs more than half a small batch's whole step; a thread that looks on for longer takes a core
/// from others for nothing.
constexpr int kLooks = 2000;

template <class Condition>
void look_for(const Condition& condition) {
  for (int k = 0; k < kLooks && !condition(); ++k) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
}

/// Threads that wait between loops: starting one costs more than a small batch's whole step.
class Pool {
 public:
  static Pool& instance() {
    static Pool pool;
    return pool;
  }

  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  void run(std::int64_t tasks, int workers, const std::function<void(std::int64_t, int)>& body) {
    const std::lock_guard one_loop_at_a_time(loop_mutex_);
    while (static_cast<int>(threads_.size()) < workers - 1) {
      const int worker = static_cast<int>(threads_.size()) + 1;
      threads_.emplace_back([this, worker] { serve(worker); });
    }
    {
      const std::lock_guard lock(mutex_);
      body_ = &body;
      tasks_ = tasks;
      next_.store(0, std::memory_order_relaxed);
      active_workers_ = workers;
      open_ = true;
      ++generation_;
    }
    wake_.notify_all();
    drain(0);
    const auto finished = [this] { return running_ == 0; };
    look_for(finished);
    std::unique_lock lock(mutex_);
    open_ = false;
    done_.wait(lock, finished);
    if (const auto thrown = std::exchange(thrown_, nullptr)) std::rethrow_exception(thrown);
  }

 private:
  /// A task that throws ends the loop: no further task is begun, and run() throws it again.
  void drain(int worker) noexcept {
    try {
      for (std::int64_t task; (task = next_.fetch_add(1, std::memory_order_relaxed)) < tasks_;)
        (*body_)(task, worker);
    } catch (...) {
      next_.store(tasks_, std::memory_order_relaxed);
      const std::lock_guard lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
    }
  }

  void serve(int worker) {
    std::uint64_t seen = 0;
    for (;;) {
      look_for([&] { return generation_ != seen; });
      std::unique_lock lock(mutex_);
      wake_.wait(lock,
                 [&] { return stopping_ || (generation_ != seen && worker < active_workers_); });
      if (stopping_) return;
      seen = generation_;
      if (!open_) continue;  // all is done: nobody waited for who came late
      ++running_;
      lock.unlock();
      drain(worker);
      lock.lock();
      if (--running_ == 0) done_.notify_one();
    }
  }

  std::mutex loop_mutex_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::thread> threads_;
  const std::function<void(std::int64_t, int)>* body_ = nullptr;
  std::int64_t tasks_ = 0;
  std::atomic<std::int64_t> next_{0};
  int active_workers_ = 0;
  std::exception_ptr thrown_;  // by the loop's first task that threw
  bool open_ = false;          // whether threads may still join the loop
  // Both change under the mutex alone, but are looked at without it.
  std::atomic<int> running_ = 0;  // threads that have joined
  std::atomic<std::uint64_t> generation_ = 0;
  bool stopping_ = false;
};

thread_local bool inside_loop = false;

}  // namespace

void set_thread_count(int count) { configured_threads.store(count); }

int thread_count() {
  // Asking the system opens a file: once is enough.
  static const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int configured = configured_threads.load(std::memory_order_relaxed);
  return configured > 0 ? configured : cores;
}

void parallel_for(std::int64_t tasks,
                  const std::function<void(std::int64_t, int)>& body,
                  int workers) {
  if (workers <= 0) workers = thread_count();
  workers = static_cast<int>(std::min<std::int64_t>(workers, tasks));
  // A loop inside a loop runs on the thread that it is on: the outer one already uses all cores.
  if (workers <= 1 || inside_loop) {
    for (std::int64_t task = 0; task < tasks; ++task) body(task, 0);
    return;
  }
  const std::function<void(std::int64_t, int)> marked = [&body](std::int64_t task, int worker) {
    struct Mark {
      Mark() { inside_loop = true; }
      ~Mark() { inside_loop = false; }
    } mark;
    body(task, worker);
  };
  Pool::instance().run(tasks, workers, marked);
}

}  // namespace sotto
