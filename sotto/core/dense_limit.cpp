#include "sotto/core/dense_limit.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "sotto/core/parallel.hpp"

namespace sotto {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

double memory_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace

double dense_hessian_bytes(std::int64_t dimension, int threads) {
  const auto d = static_cast<double>(dimension);
  // A thread: d² doubles and d (d + 1) / 2 totals of 16 bytes. In all: the sum, its eigenvectors, a
  // copy and work space.
  return threads * (8 * d * d + 8 * d * (d + 1)) + 4 * 8 * d * d;
}

Expected<void> check_dense_hessian(std::int64_t dimension) {
  const double needed = dense_hessian_bytes(dimension, thread_count());
  const double memory = memory_bytes();
  if (needed <= memory / 2) return {};
  return fail(
      ErrorKind::kUsage,
      fmt::format("a dense Hessian of {} parameters needs about {:.1f} GiB, more than half of this "
                  "machine's {:.1f} GiB. Use a method's Lanczos form (‘solver lanczos’), which "
                  "never forms the matrix, or a first-order method.",
                  dimension,
                  needed / kGiB,
                  memory / kGiB));
}

Expected<void> check_weights(std::int64_t dimension) {
  // A thread: a sum, and a total of 16 bytes a number. In all: the weights, an average, momentum,
  // the answer, its noise, and a model's text.
  const double needed = static_cast<double>(dimension) * (24 * thread_count() + 64);
  const double memory = memory_bytes();
  if (needed <= memory / 2) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("a model of {} parameters needs about {:.1f} GiB on {} threads, more "
                          "than half of this machine's {:.1f} GiB. Use fewer features or fewer "
                          "‘threads’.",
                          dimension,
                          needed / kGiB,
                          thread_count(),
                          memory / kGiB));
}

Expected<void> check_products(std::int64_t dimension, std::int64_t products) {
  const double needed = 4 * 8.0 * static_cast<double>(dimension) * static_cast<double>(products);
  const double memory = memory_bytes();
  if (needed <= memory / 2) return {};
  return fail(
      ErrorKind::kUsage,
      fmt::format(
          "{} products with a Hessian of {} parameters, which this curvature tolerance "
          "needs, keep about {:.1f} GiB, more than half of this machine's {:.1f} GiB. Raise "
          "‘curvature_tolerance’, or use a first-order method.",
          products,
          dimension,
          needed / kGiB,
          memory / kGiB));
}

}  // namespace sotto
