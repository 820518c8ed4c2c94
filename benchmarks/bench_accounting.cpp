// Times of the accountants. One JSON line per figure; `reference` tells what other tools took, as
// far as the oracle file says.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sotto/privacy/accountant/pld.hpp"
#include "sotto/privacy/calibrate.hpp"

namespace {

using sotto::Event;
using sotto::Relation;

struct Case {
  double rate, noise_multiplier;
  std::int64_t steps;
  double delta;

  Event event(double z) const {
    return Event::repeat(steps, Event::poisson(rate, Event::gaussian(z, Relation::kZeroOut)));
  }
  sotto::CanonicalEvent canonical() const {
    return sotto::canonical(event(noise_multiplier)).value();
  }
  std::string name() const {
    char text[128];
    std::snprintf(text,
                  sizeof text,
                  "repeat(%lld, poisson(%g, gaussian(%g))), delta %g",
                  static_cast<long long>(steps),
                  rate,
                  noise_multiplier,
                  delta);
    return text;
  }
};

// The median, after one call that fills caches. Processor time: the work has one thread, and the
// machine may be shared.
double milliseconds(int repetitions, const std::function<void()>& work) {
  work();
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    const std::clock_t start = std::clock();
    work();
    times.push_back(1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// What the oracle file says about the case, if it has it.
nlohmann::json reference_times(const Case& c) {
  std::ifstream file(SOTTO_SHARED_DIR "/oracles/poisson_add_remove.json");
  nlohmann::json times = nlohmann::json::object();
  if (!file) return times;
  for (const auto& row : nlohmann::json::parse(file)) {
    if (row["q"] != c.rate || row["noise_multiplier"] != c.noise_multiplier ||
        row["steps"] != c.steps || row["delta"] != c.delta)
      continue;
    for (const char* tool : {"rdp", "pld_upper", "pld_lower", "prv"})
      if (row.contains(tool) && row[tool].contains("ms")) times[tool] = row[tool]["ms"];
  }
  return times;
}

bool report(const Case& c, const std::string& what, double value, double bound) {
  const bool holds = value <= bound;
  nlohmann::ordered_json line{{"bench", "accounting"},
                              {"case", c.name()},
                              {"ratio", what},
                              {"value", value},
                              {"bound", bound},
                              {"holds", holds},
                              {"reference_ms", reference_times(c)}};
  std::printf("%s\n", line.dump().c_str());
  return holds;
}

}  // namespace

int main() {
  const sotto::Accountant& pld = sotto::pld_accountant();
  bool all = true;
  for (const Case& c : {Case{0.01, 5, 100000, 1e-5},
                        Case{0.001, 0.6, 100000, 1e-6},
                        Case{256.0 / 60000, 1.1, 100000, 1e-5}}) {
    const auto event = c.canonical();
    all &= report(c,
                  "pld upper, 1e5 Poisson steps, ms over 20 ms",
                  milliseconds(9, [&] { pld.epsilon_upper(event, c.delta).value(); }),
                  20);
    all &= report(c,
                  "pld interval, 1e5 Poisson steps, ms over 80 ms",
                  milliseconds(9, [&] { pld.epsilon(event, c.delta).value(); }),
                  80);
    const double target = pld.epsilon_upper(event, c.delta).value();
    all &= report(c,
                  "calibration to 1e-6, 1e5 Poisson steps, ms over 500 ms",
                  milliseconds(3,
                               [&] {
                                 sotto::calibrate_noise(
                                     [&](double z) { return c.event(z); }, {target, c.delta}, &pld)
                                     .value();
                               }),
                  500);
  }
  return all ? 0 : 1;
}
