#include "sotto/training/tracer.hpp"

#include <cmath>
#include <string>
#include <utility>

namespace sotto {
namespace {

constexpr std::size_t kTracePoints = 1000;
constexpr std::size_t kSpendingPoints = 32;
constexpr std::size_t kMore = 64;  // Thinned keeps a few more: powers of two
constexpr std::int64_t kMostSteps = std::int64_t{1} << 53;

/// A count that was written as a double; whatever a file says, it is one.
std::int64_t count_from(double number) {
  return number >= 0 && number <= static_cast<double>(kMostSteps)
             ? static_cast<std::int64_t>(number)
             : 0;
}

void archive_trace(Archive& state, Thinned<TracePoint>& trace) {
  constexpr std::size_t kNumbers = 4;
  std::vector<double> numbers;
  for (const auto& [step, point] : trace.points())
    numbers.insert(
        numbers.end(),
        {static_cast<double>(point.step), point.step_size, point.gradient_norm, point.passes});
  state("trace every", trace.every(), 1, kMostSteps)(
      "trace", numbers, kNumbers * (kTracePoints + kMore));
  if (!state.loading()) return;
  trace.points().clear();
  for (std::size_t k = 0; k + kNumbers <= numbers.size(); k += kNumbers)
    trace.points().emplace_back(
        count_from(numbers[k]),
        TracePoint{count_from(numbers[k]), numbers[k + 1], numbers[k + 2], numbers[k + 3]});
}

void archive_spending(Archive& state, Thinned<SpentPoint>& spending, Relation relation) {
  constexpr std::size_t kNumbers = 4;
  constexpr double kNone = -1;
  std::vector<double> numbers;
  std::vector<std::string> events;
  for (const auto& [step, point] : spending.points()) {
    numbers.insert(numbers.end(),
                   {static_cast<double>(point.step),
                    point.passes,
                    static_cast<double>(point.noise_samples),
                    point.filter_share.value_or(kNone)});
    events.push_back(to_string(to_event(point.events)));
  }
  state("spending every", spending.every(), 1, kMostSteps)(
      "spending", numbers, kNumbers * (kSpendingPoints + kMore))(
      "spent", events, kSpendingPoints + kMore);
  if (!state.loading()) return;
  spending.points().clear();
  for (std::size_t k = 0; k < events.size() && kNumbers * (k + 1) <= numbers.size(); ++k) {
    const double* number = &numbers[kNumbers * k];
    const auto event = parse_event(events[k], relation);
    const auto form = event ? canonical(*event) : Expected<CanonicalEvent>(CanonicalEvent{});
    if (!event || !form) continue;
    SpentPoint point;
    point.step = count_from(number[0]);
    point.passes = number[1];
    point.events = *form;
    point.noise_samples = count_from(number[2]);
    if (number[3] >= 0) point.filter_share = number[3];
    spending.points().emplace_back(point.step, point);
  }
}

}  // namespace

Tracer::Tracer(Observer& next,
               std::function<double()> row_visits,
               std::int64_t n,
               const Ledger* ledger)
    : next_(next),
      row_visits_(std::move(row_visits)),
      n_(static_cast<double>(n)),
      ledger_(ledger),
      trace_(kTracePoints),
      spending_(kSpendingPoints) {}

bool Tracer::keep_going(const StepReport& step) {
  StepReport report = step;
  report.examples = row_visits_();
  report.passes = passes();
  trace_.offer(report.step, [&] {
    return TracePoint{report.step, report.step_size, report.gradient_norm, report.passes};
  });
  if (ledger_) spending_.offer(report.step, [&] { return spent_after(report.step); });
  stopped_ = !next_.keep_going(report) && report.step < report.steps;
  return !stopped_;
}

std::vector<SpentPoint> Tracer::spending(std::int64_t steps) {
  if (!ledger_) return spending_.take();
  SpentPoint last = spent_after(steps);
  std::vector<SpentPoint> points = spending_.take(1);
  if (!points.empty() && points.back().step == steps) points.pop_back();
  points.push_back(std::move(last));
  return points;
}

SpentPoint Tracer::spent_after(std::int64_t step) const {
  return {step, passes(), ledger_->spent(), ledger_->samples_spent(), {}, ledger_->filter_share()};
}

void Tracer::archive(Archive& state) {
  archive_trace(state, trace_);
  if (ledger_) archive_spending(state, spending_, ledger_->options().relation);
}

}  // namespace sotto
