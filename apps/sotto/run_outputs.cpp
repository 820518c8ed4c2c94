#include "run_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "command_line.hpp"
#include "plot_file.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/json.hpp"
#include "sotto/record/price_record.hpp"
#include "sotto/record/record_json.hpp"
#include "sotto/report/reported_run.hpp"
#include "sotto/report/run_charts.hpp"
#include "sotto/report/run_page.hpp"

namespace sotto::app {
namespace {

constexpr std::int64_t kMostNumbers = std::int64_t{1} << 23;  // 64 MB

/// Options of the run as a whole that have a value, and where it came from.
std::vector<Setting> options_of(const Verb& verb) {
  constexpr std::array<std::string_view, 4> kGroups = {"Privacy", "Data", "Model", "Network"};
  std::vector<Setting> settings;
  for (const auto group : kGroups)
    for (Verb::Value& option : verb.values()) {
      if (option.group != group || option.text.empty()) continue;
      std::replace(option.name.begin(), option.name.end(), '-', '_');
      settings.push_back({option.name,
                          option.text,
                          option.given ? Origin::kGiven : Origin::kDefault,
                          option.group});
    }
  return settings;
}

}  // namespace

void RunOutputs::add_to(Verb& verb) {
  verb_ = &verb;
  verb.add_output("--record", record_path_, "write the run record (JSON) here").group("Output");
  verb.add_output("--report",
                  report_path_,
                  "write a report (HTML, one file): privacy in plain words, charts, settings")
      .group("Output");
  verb.add_output("--plot", plot_path_, "write the curves as .svg or .png (needs gnuplot)")
      .group("Output");
}

Expected<void> RunOutputs::check() {
  if (!record_path_.empty()) SOTTO_TRY(check_writable(record_path_));
  if (!report_path_.empty()) SOTTO_TRY(check_writable(report_path_));
  if (!plot_path_.empty()) SOTTO_TRY(check_plot(plot_path_));
  SOTTO_ASSIGN(record_, WatchedOutput::at(record_path_));
  SOTTO_ASSIGN(report_, WatchedOutput::at(report_path_));
  SOTTO_ASSIGN(plot_, WatchedOutput::at(plot_path_));
  return {};
}

bool RunOutputs::wanted() const {
  return !record_path_.empty() || !report_path_.empty() || !plot_path_.empty();
}

Expected<void> RunOutputs::write(RunRecord& record) {
  if (!wanted()) return {};
  record.command = command_words();
  record.options = options_of(*verb_);
  if (!record.network.empty())  // it does not look at it
    std::erase_if(record.options, [](const Setting& each) {
      return each.name == "bias" && each.origin == Origin::kDefault;
    });
  SOTTO_TRY(price_record(record));
  const nlohmann::json json = to_json(record);
  if (!record_path_.empty()) {
    SOTTO_ASSIGN(const std::string path, record_.place());
    SOTTO_TRY(write_file_atomically(path, to_text(record)));
  }
  if (!report_path_.empty() || !plot_path_.empty()) {
    SOTTO_ASSIGN(const ReportedRun run, reported_run(json, record.method, "this run's record"));
    if (!report_path_.empty()) {
      SOTTO_ASSIGN(const std::string path, report_.place());
      SOTTO_TRY(write_file_atomically(path, run_page(run)));
    }
    if (!plot_path_.empty()) {
      SOTTO_ASSIGN(const std::string path, plot_.place());
      SOTTO_TRY(write_plot(run_charts({&run, 1}), path));
    }
  }
  // Once all are written.
  for (const WatchedOutput* output : {&record_, &report_, &plot_}) SOTTO_TRY(output->check());
  return {};
}

KeptIterates::KeptIterates(Observer& next, std::int64_t dimension, bool wanted, std::int64_t most)
    : next_(next),
      points_(wanted ? static_cast<std::size_t>(
                           std::min(most, kMostNumbers / std::max<std::int64_t>(1, dimension)))
                     : 0) {}

bool KeptIterates::keep_going(const StepReport& report) {
  if (report.iterate)
    points_.offer(report.step, [&] { return Point{report.step, report.passes, *report.iterate}; });
  return next_.keep_going(report);
}

}  // namespace sotto::app
