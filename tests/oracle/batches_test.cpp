#include "sotto/oracle/batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace sotto {
namespace {

constexpr std::int64_t kUnits = 50'000;
constexpr SumShape kShape{10, false};

std::vector<std::int64_t> list(const PerExampleSum::Batch& batch) {
  return {batch.indices.begin(), batch.indices.end()};
}

// What a machine that holds one range would do: no batch, no range before it is drawn.
TEST(Batches, ARangeOfABatchCanBeDrawnAgainAnywhere) {
  for (const double rate : {0.004, 0.05, 0.3}) {
    const Sampling sampling = Sampling::poisson(rate);
    Batches batches(kUnits, kShape, Stream::seeded(7, Purpose::kSampling));
    std::vector<std::int64_t> third;
    for (int number = 1; number <= 3; ++number) third = list(batches.draw(sampling));
    const std::int64_t range = sum_geometry(kShape, SumKind::kVector, rate).range;
    const PoissonBatchSampler sampler(kUnits, rate);
    std::vector<std::int64_t> again;
    for (const std::int64_t k : {2, 0, 1}) {  // in any order
      const std::int64_t begin = k * range, end = std::min(begin + range, kUnits);
      if (begin >= kUnits) continue;
      Stream stream = Stream::seeded(7, Purpose::kSampling);
      stream.go_to(3, static_cast<std::uint64_t>(k));
      std::vector<std::int64_t> part;
      sampler.draw_range(stream, begin, end, part);
      std::vector<std::int64_t> expected;
      for (const std::int64_t i : third)
        if (i >= begin && i < end) expected.push_back(i);
      EXPECT_EQ(part, expected) << "rate " << rate << ", range " << k;
      EXPECT_FALSE(part.empty());
    }
  }
}

TEST(Batches, ComeInOrderAndDiffer) {
  Batches batches(kUnits, kShape, Stream::secure(Purpose::kSampling));
  std::set<std::vector<std::int64_t>> seen;
  for (int i = 0; i < 20; ++i) {
    const auto batch = list(batches.draw(Sampling::poisson(0.01)));
    EXPECT_TRUE(std::is_sorted(batch.begin(), batch.end()));
    EXPECT_TRUE(seen.insert(batch).second);
    const auto fixed = list(batches.draw(Sampling::fixed_size(500, kUnits)));
    EXPECT_EQ(fixed.size(), 500U);
    EXPECT_TRUE(seen.insert(fixed).second);
  }
}

}  // namespace
}  // namespace sotto
