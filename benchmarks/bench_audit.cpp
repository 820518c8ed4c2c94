// How long a method audit takes: 30,000 runs per world, of 20 steps on a 200 x 10 problem. One JSON
// line per figure.

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "sotto/audit/method_audit.hpp"
#include "sotto/core/parallel.hpp"

namespace {

constexpr std::int64_t kRuns = 30000;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool audit(const std::string& method, sotto::View view) {
  sotto::MethodAuditOptions options;
  options.method = method;
  options.view = view;
  const auto prepared = sotto::MethodAudit::prepare(options);
  if (!prepared) return false;
  sotto::Scores scores;
  const auto begin = std::chrono::steady_clock::now();
  sotto::collect(prepared->trial(), kRuns, scores);
  const double run_seconds = seconds_since(begin);
  const auto judging = std::chrono::steady_clock::now();
  const auto outcome = sotto::report(scores, prepared->claim(), prepared->judge_options());
  if (!outcome) return false;
  const nlohmann::json line = {{"bench", "audit"},
                               {"case",
                                method + ", 30000 runs per world, 20 steps, 200 x 10, view " +
                                    std::string(sotto::to_string(view))},
                               {"ratio", "seconds over 60 s"},
                               {"value", run_seconds},
                               {"bound", 60},
                               {"holds", run_seconds < 60},
                               {"threads", sotto::thread_count()},
                               {"judge_seconds", seconds_since(judging)},
                               {"lower_bound", outcome->judgement.lower_bound}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
  return run_seconds < 60;
}

}  // namespace

int main() {
  sotto::set_thread_count(sotto::thread_count());
  bool all = true;
  for (const char* method : {"dp-gd", "dp-sgd"})
    for (const sotto::View view : {sotto::View::kAll, sotto::View::kFinal})
      all &= audit(method, view);
  return all ? 0 : 1;
}
