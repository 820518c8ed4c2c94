#include "sotto/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace sotto {
namespace {

std::atomic<int> configured_threads{0};

/// Threads that sleep between loops: starting one costs more than a small batch's whole step.
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
      running_ = workers - 1;
      ++generation_;
    }
    wake_.notify_all();
    drain(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0; });
  }

 private:
  void drain(int worker) noexcept {
    for (std::int64_t task; (task = next_.fetch_add(1, std::memory_order_relaxed)) < tasks_;)
      (*body_)(task, worker);
  }

  void serve(int worker) {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock,
                 [&] { return stopping_ || (generation_ != seen && worker < active_workers_); });
      if (stopping_) return;
      seen = generation_;
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
  int running_ = 0;
  std::uint64_t generation_ = 0;
  bool stopping_ = false;
};

thread_local bool inside_loop = false;

}  // namespace

void set_thread_count(int count) { configured_threads.store(count); }

int thread_count() {
  const int configured = configured_threads.load();
  return configured > 0 ? configured
                        : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
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
    inside_loop = true;
    body(task, worker);
    inside_loop = false;
  };
  Pool::instance().run(tasks, workers, marked);
}

}  // namespace sotto
