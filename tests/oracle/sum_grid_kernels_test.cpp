#include "sotto/oracle/sum_grid_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "sotto/core/numbers.hpp"
#include "sotto/random/stream.hpp"

namespace sotto::internal {
namespace {

struct Kernels {
  ToSumGrid to;
  FromSumGrid from;
};

std::vector<Kernels> kernels() {
  std::vector<Kernels> result = {{baseline::to_sum_grid, baseline::from_sum_grid}};
#ifdef __x86_64__
  if (__builtin_cpu_supports("x86-64-v3"))
    result.push_back({x86_64_v3::to_sum_grid, x86_64_v3::from_sum_grid});
#endif
  return result;
}

std::int64_t definition(double value, double scale) {
  const double x = value * scale;
  if (std::isnan(x)) return 0;
  return std::llrint(std::min(std::max(x, -0x1p61), 0x1p61));
}

std::vector<double> values() {
  std::vector<double> result = {0,
                                0.5,
                                1.5,
                                2.5,
                                -0.5,
                                -1.5,
                                0x1p31,
                                0x1p31 + 0.5,
                                0x1p32 - 0.5,
                                -0x1p31 - 1.5,
                                0x1p51 + 0.5,
                                0x1p53,
                                0x1.fffffffffffffp60,
                                -0x1p62,
                                kInfinity,
                                -kInfinity,
                                std::numeric_limits<double>::quiet_NaN(),
                                5e-324};
  Stream random = Stream::seeded(2, Purpose::kData);
  for (int k = 0; k < 20001; ++k)
    result.push_back(std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(64))));
  return result;
}

TEST(SumGridKernels, RoundToTheNearestStep) {
  const std::vector<double> all = values();
  for (const Kernels& each : kernels())
    for (const double scale : {1.0, 0x1p-7, 0x1p50}) {
      std::vector<std::int64_t> totals(all.size(), 7);
      std::vector<double> used = all;
      each.to(used.data(), scale, used.size(), true, totals.data());
      EXPECT_EQ(used, std::vector<double>(all.size()));
      for (std::size_t j = 0; j < all.size(); ++j)
        ASSERT_EQ(totals[j], definition(all[j], scale)) << all[j] << " " << scale;
      used = all;
      each.to(used.data(), scale, all.size() - 2, false, totals.data());
      for (std::size_t j = 0; j < all.size(); ++j)
        ASSERT_EQ(totals[j], (j + 2 < all.size() ? 2 : 1) * definition(all[j], scale)) << all[j];
    }
}

TEST(SumGridKernels, TotalsAreRoundedOnce) {
  Stream random = Stream::seeded(3, Purpose::kData);
  std::vector<std::int64_t> a = {
      0, 1, -1, (std::int64_t{1} << 53) + 1, -(std::int64_t{1} << 53) - 1};
  for (int k = 0; k < 10002; ++k)
    a.push_back(static_cast<std::int64_t>(random.next()) >> static_cast<int>(2 + random.below(60)));
  std::vector<std::int64_t> b(a.rbegin(), a.rend());
  for (const Kernels& each : kernels()) {
    std::vector<double> sums(a.size());
    const std::int64_t* parts[] = {a.data(), b.data()};
    each.from(parts, 2, 0x1p-50, a.size(), sums.data());
    for (std::size_t j = 0; j < a.size(); ++j)
      ASSERT_EQ(sums[j], static_cast<double>(a[j] + b[j]) * 0x1p-50) << a[j] << " " << b[j];
    each.from(parts, 0, 1, a.size(), sums.data());
    for (const double sum : sums) ASSERT_EQ(sum, 0);
  }
}

}  // namespace
}  // namespace sotto::internal
