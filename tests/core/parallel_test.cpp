#include "sotto/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace sotto {
namespace {

TEST(ParallelFor, RunsEveryTaskOnceAndWorkersDoNotOverlap) {
  for (const int workers : {1, 2, 5}) {
    std::vector<std::atomic<int>> runs(1000);
    std::vector<std::atomic<int>> inside(static_cast<std::size_t>(workers));
    std::atomic<int> overlaps{0};
    parallel_for(
        1000,
        [&](std::int64_t task, int worker) {
          if (inside[static_cast<std::size_t>(worker)].fetch_add(1) != 0) ++overlaps;
          ++runs[static_cast<std::size_t>(task)];
          inside[static_cast<std::size_t>(worker)].fetch_sub(1);
        },
        workers);
    for (const auto& count : runs) EXPECT_EQ(count, 1);
    EXPECT_EQ(overlaps, 0);
  }
}

TEST(ParallelFor, ATaskThatThrowsEndsTheLoopAndThrowsHere) {
  for (const int workers : {1, 2, 5}) {
    std::atomic<int> begun{0};
    const auto loop = [&] {
      parallel_for(
          1'000'000,
          [&](std::int64_t task, int) {
            ++begun;
            if (task == 100) throw std::runtime_error("out of memory, say");
          },
          workers);
    };
    EXPECT_THROW(loop(), std::runtime_error);
    EXPECT_LT(begun, 1'000'000);
    // And the next loop is as good as ever.
    std::atomic<int> total{0};
    parallel_for(
        1000, [&](std::int64_t, int) { ++total; }, workers);
    EXPECT_EQ(total, 1000);
  }
}

TEST(ParallelFor, NestedLoopsAndRepeatedLoopsFinish) {
  std::atomic<int> total{0};
  for (int round = 0; round < 200; ++round)
    parallel_for(
        4,
        [&](std::int64_t, int) {
          parallel_for(
              3, [&](std::int64_t, int) { ++total; }, 4);
        },
        4);
  EXPECT_EQ(total, 200 * 12);
  parallel_for(0, [&](std::int64_t, int) { FAIL(); });
}

}  // namespace
}  // namespace sotto
