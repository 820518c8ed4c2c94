#include "sotto/report/run_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sotto/core/numbers.hpp"
#include "sotto/privacy/event.hpp"
#include "sotto/report/privacy_words.hpp"

namespace sotto {
namespace {

constexpr std::size_t kMostTerms = 12;
constexpr std::size_t kMostClasses = 20;

/// Numbers to six digits, other texts as they are.
std::string shown(const std::string& text) {
  const auto value = number_in<double>(text);
  return value ? short_text(*value) : text;
}

Expected<CanonicalEvent> terms_of(const std::string& text, Relation relation) {
  SOTTO_ASSIGN(const Event event, parse_event(text, relation));
  return canonical(event);
}

std::string class_name(const RunRecord& record, std::size_t k, std::size_t classes) {
  if (k < record.class_names.size()) return record.class_names[k];
  if (classes == 2) return k == 0 ? "-1" : "+1";
  return fmt::format("{}", k);
}

}  // namespace

Rows setting_rows(const ReportedRun& run) {
  const RunRecord& record = run.record;
  Rows rows;
  const auto add = [&](const std::string& name,
                       const std::string& value,
                       std::string_view origin,
                       const std::string& part) {
    rows.push_back({Cell(name), Cell(shown(value)), Cell(std::string(origin)), Cell(part)});
  };
  const auto is_known = [&](const std::string& name) {
    for (const auto& option : record.options)
      if (option.name == name) return true;
    return false;
  };
  for (const auto& option : record.options) {
    // A network brings its own loss.
    if (option.name == "loss" && !record.network.empty()) continue;
    add(option.name, option.value, to_string(option.origin), option.group);
  }
  if (record.privacy.is_private && !is_known("noise_multiplier") && !run.by_filter())
    add("noise_multiplier",
        fmt::format("{}", record.noise_multiplier),
        std::isfinite(record.epsilon_budget) ? "rule: the least that meets the budget" : "given",
        "Privacy");
  if (record.privacy.is_private && !is_known("accountant"))
    add("accountant", record.privacy.accountant, "rule: the tightest that applies", "Privacy");
  // Records without the run's options still tell these.
  if (record.options.empty()) {
    add("loss", record.loss, "", "Model");
    add("regularizer", record.regularizer, "", "Model");
    add("neighbours", std::string(to_string(record.privacy.neighbours)), "", "Privacy");
  }
  add("dimension", fmt::format("{}", record.dimension), "a public fact", "Data");
  add("n", fmt::format("{}", record.privacy.public_n), "a public fact", "Data");
  for (const auto& setting : record.settings)
    if (setting.value != "none")
      add(setting.name, setting.value, to_string(setting.origin), "Method");
  return rows;
}

void add_settings(Page& page, const ReportedRun& run) {
  std::vector<std::pair<std::string, Rows>> parts;
  for (auto& row : setting_rows(run)) {
    const std::string part = row.back().text;
    row.pop_back();
    auto found =
        std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.first == part; });
    if (found == parts.end()) found = parts.insert(parts.end(), {part, {}});
    found->second.push_back(std::move(row));
  }
  for (const auto& [part, rows] : parts) page.table({"setting", "value", "origin"}, rows, part);
}

Rows event_rows(const RunRecord& record) {
  const Relation relation = record.privacy.neighbours;
  const auto charged = terms_of(record.privacy.events, relation);
  if (!charged) return {{Cell(record.privacy.events), Cell("-"), Cell("-")}};
  std::map<std::string, std::int64_t> planned;
  if (const auto plan = terms_of(record.plan, relation))
    for (const Term& term : plan->terms) planned[to_string(term)] += term.count;
  Rows rows;
  std::int64_t kinds_left = 0;
  std::int64_t planned_left = 0;
  std::int64_t charged_left = 0;
  for (const Term& term : charged->terms) {
    const std::string text = to_string(term);
    if (rows.size() < kMostTerms) {
      rows.push_back({Cell("`" + text + "`"),
                      Cell(with_commas(planned[text])),
                      Cell(with_commas(term.count))});
    } else {
      ++kinds_left;
      planned_left += planned[text];
      charged_left += term.count;
    }
  }
  if (kinds_left > 0)
    rows.push_back({Cell(fmt::format("and {} more kinds", with_commas(kinds_left))),
                    Cell(with_commas(planned_left)),
                    Cell(with_commas(charged_left))});
  return rows;
}

std::vector<Figure> metric_figures(const ReportedRun& run) {
  std::vector<Figure> figures;
  for (const auto& [name, value] : run.test) {
    if (name == "accuracy")
      figures.push_back({"accuracy", fmt::format("{:.2f} %", 100 * value)});
    else if (name == "rows")
      figures.push_back({"test rows", with_commas(static_cast<std::int64_t>(value))});
    else if (name == "auc" || name == "rmse" || name == "mae")
      figures.push_back({name == "auc"    ? "AUC"
                         : name == "rmse" ? "RMSE"
                                          : "MAE",
                         fmt::format("{:.4f}", value)});
    else
      figures.push_back({name, rounded(value)});
  }
  return figures;
}

void add_confusion(Page& page, const ReportedRun& run) {
  const std::size_t classes = run.confusion.size();
  if (classes > kMostClasses) return;
  std::vector<Column> columns = {"truth"};
  for (std::size_t k = 0; k < classes; ++k)
    columns.emplace_back(class_name(run.record, k, classes), true);
  Rows rows;
  for (std::size_t truth = 0; truth < classes; ++truth) {
    rows.push_back({Cell(class_name(run.record, truth, classes))});
    for (std::size_t k = 0; k < classes; ++k)
      rows.back().push_back(
          {with_commas(k < run.confusion[truth].size() ? run.confusion[truth][k] : 0),
           k == truth ? Tone::kGood : Tone::kPlain});
  }
  page.table(columns, rows, "Test rows by true class and prediction");
}

}  // namespace sotto
