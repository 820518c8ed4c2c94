// A program that knows Sotto only as an installed package: it prices an event, and trains.
#include <cmath>
#include <cstdio>
#include <sotto/sotto.hpp>

int main() {
  const auto relation = sotto::Relation::kZeroOut;
  const auto z = sotto::calibrate_noise(
      [&](double value) {
        return sotto::Event::repeat(100, sotto::Event::gaussian(value, relation));
      },
      {1.0, 1e-6});
  if (!z) return 1;
  std::printf("noise multiplier %.6f, %zu methods\n", *z, sotto::methods().size());
  // One Gaussian of mu = 0.236704 spends exactly (1, 1e-6) [BW18].
  if (std::abs(std::sqrt(100.0) / *z - 0.236704) > 1e-5) return 1;

  auto task = sotto::Task::of(sotto::make_census(2'000, 1, 0).data, {});
  if (!task) return 1;
  sotto::TrainOptions how;
  how.method = "dp-gd";
  how.epsilon = 1;
  how.delta = 1e-6;
  const auto trained = sotto::train(*task, how);
  if (!trained) return 1;
  std::printf("%s\n", brief(trained->record).c_str());
  return trained->record.privacy.epsilon <= 1 ? 0 : 1;
}
