#include "sotto/report/run_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/option_names.hpp"
#include "sotto/report/privacy_words.hpp"
#include "sotto/report/run_charts.hpp"
#include "sotto/report/run_tables.hpp"

namespace sotto {
namespace {

std::span<const ReportedRun> alone(const ReportedRun& run) { return {&run, 1}; }

void privacy_section(Page& page, const ReportedRun& run) {
  const PrivacyStatement& privacy = run.record.privacy;
  page.heading("Privacy");
  if (!privacy.is_private) {
    page.paragraph(
        "This run gives no privacy guarantee. Treat the model, its record and this report like the "
        "training data themselves.");
    return;
  }
  const PrivacyWords words = privacy_words(run);
  page.banner(privacy.unsafe_diagnostics || privacy.insecure_seed ? Tone::kWarning : Tone::kGood,
              words.headline,
              privacy.unsafe_diagnostics || privacy.insecure_seed
                  ? "This is what the run would promise without what the red box says."
                  : "That is differential privacy. The sections below say how much, and where it "
                    "ends.");
  const double budget = run.record.epsilon_budget;
  page.figures(
      {{"epsilon",
        rounded_up(privacy.epsilon),
        std::isfinite(budget) ? fmt::format("at most, of {} granted", rounded_up(budget, 6))
                              : "at most; noise given by hand"},
       {"delta", rounded_up(privacy.delta), "probability of failure"},
       {"protected",
        privacy.unit == "row" ? "each row" : "each person",
        privacy.unit == "row" ? "" : "column `" + privacy.unit + "`"},
       {privacy.neighbours == Relation::kAddRemove ? "declared number" : "how many",
        with_commas(privacy.public_n),
        privacy.unit == "row" ? "rows" : "persons"}});
  std::vector<std::pair<std::string, Cell>> promise;
  for (const auto& [label, text] : words.promise) promise.emplace_back(label, text);
  page.facts(promise);
  page.subheading("What is not promised");
  page.list(words.not_promised);
}

void budget_section(Page& page, const ReportedRun& run) {
  const RunRecord& record = run.record;
  if (!record.privacy.is_private) return;
  page.heading("Budget over time");
  const Chart chart = budget_chart(alone(run));
  if (has_points(chart))
    page.chart(chart);
  else
    page.paragraph(
        "This record does not tell how the budget was spent over time; it was written by "
        "an older version of Sotto, or by a program that did not price it.");
  page.paragraph(fmt::format(
      "The run stopped: {}. {}",
      to_string(record.stopped),
      run.by_filter()
          ? "It costs the whole budget of its filter, however little of it was used."
          : "It costs its whole plan, however early it stopped: a stop can depend on what was "
            "released before it."));
}

void values_section(Page& page, const ReportedRun& run) {
  const RunRecord& record = run.record;
  page.heading("Released values");
  page.figures({{"steps", with_commas(record.steps)},
                {"passes over the data", rounded(record.passes), "expected"},
                {"gradients",
                 with_commas(std::llround(record.gradient_evaluations)),
                 "of single units, expected"}});
  if (const Chart chart = gradient_chart(alone(run)); has_points(chart))
    page.chart(chart);
  else
    page.paragraph("This run released no gradient norms.");
  const Chart objective = objective_chart(alone(run));
  if (has_points(objective))
    page.chart(objective);
  else
    page.paragraph(with_flags(
        "The objective on the training data was not released: that would cost budget. With a "
        "public test set (`‘test’`) this section shows the objective on its rows."));
  if (const Chart accuracy = accuracy_chart(alone(run)); has_points(accuracy)) page.chart(accuracy);
  if (const auto& truth = record.diagnostics) {
    page.subheading("True training values (not private)");
    std::vector<std::pair<std::string, Cell>> facts = {
        {"objective", Cell(fmt::format("{:.6g}", truth->objective), Tone::kDanger)},
        {"gradient norm", Cell(fmt::format("{:.6g}", truth->gradient_norm), Tone::kDanger)}};
    if (truth->projected_gradient_norm)
      facts.emplace_back(
          "projected gradient norm",
          Cell(fmt::format("{:.6g}", *truth->projected_gradient_norm), Tone::kDanger));
    if (truth->frank_wolfe_gap)
      facts.emplace_back("Frank–Wolfe gap",
                         Cell(fmt::format("{:.6g}", *truth->frank_wolfe_gap), Tone::kDanger));
    page.facts(facts);
  }
}

void certificate_section(Page& page, const RunRecord& record) {
  if (!record.certificate && !record.gap) return;
  page.heading("Certificate");
  if (const auto& c = record.certificate) {
    const bool holds = c->verdict == Certificate::Verdict::kCertified;
    page.banner(holds ? Tone::kGood : Tone::kWarning,
                fmt::format("({:.3g}, {:.3g})-second-order point: {}",
                            c->gradient_tolerance,
                            c->curvature_tolerance,
                            to_string(c->verdict)),
                c->reason.empty()
                    ? fmt::format("Both bounds hold together with probability {:g} over the noise.",
                                  c->confidence)
                    : c->reason);
    if (c->verdict != Certificate::Verdict::kRefused)
      page.facts(
          {{"gradient norm", "at most " + rounded_up(c->gradient_upper)},
           {"smallest curvature", "at least " + rounded_down(c->curvature_lower)},
           {"released gradient norm", rounded(c->gradient_norm)},
           {"noise floors",
            fmt::format("gradient {}, curvature {}{}",
                        rounded(c->gradient_floor),
                        rounded(c->curvature_floor),
                        c->curvature_by_algebra ? " (the curvature's bound needs no data)" : "")}});
  }
  if (const auto& gap = record.gap)
    page.facts({{"Frank–Wolfe gap",
                 fmt::format("{} ± {} with {:g} % confidence, paid for from the budget",
                             rounded(gap->gap),
                             rounded(gap->half_width),
                             100 * gap->confidence)}});
}

void test_section(Page& page, const ReportedRun& run) {
  page.heading("Metrics on public test rows");
  if (run.test.empty()) {
    page.paragraph(with_flags("No test set was given (`‘test’`)."));
    return;
  }
  page.paragraph(
      "Exact numbers about the test rows, which whoever ran this declared public. No charge covers "
      "them.");
  page.figures(metric_figures(run));
  if (!run.confusion.empty()) add_confusion(page, run);
  if (const auto& population = run.record.population)
    page.paragraph(fmt::format(
        "Gradient norm of the population, estimated on the test rows: {} (standard error {}).",
        rounded(population->norm),
        rounded(population->standard_error)));
}

void circumstances(Page& page, const ReportedRun& run) {
  const RunRecord& record = run.record;
  page.heading("Settings");
  page.paragraph(
      "`given` by whoever ran it, a `default`, or chosen by a `rule` from public facts; never from "
      "the rows.");
  add_settings(page, run);
  if (!record.network.empty()) page.subheading("Network").code(record.network);
  if (record.privacy.is_private) {
    page.heading("Events");
    page.paragraph(fmt::format(
        "What was released, as it was charged before any row was read; {} numbers of noise were "
        "drawn for it.",
        with_commas(record.privacy.noise_samples)));
    page.table({"release", {"planned", true}, {"charged", true}}, event_rows(record));
    if (!run.prices.empty()) {
      Rows prices;
      for (const auto& [accountant, epsilon] : run.prices)
        prices.push_back({Cell(accountant), Cell(rounded_up(epsilon))});
      page.paragraph(
          "When this page was made, every accountant with a theorem for the plan priced it anew, "
          "at "
          "the same delta. Each bound is valid; the smallest is the tightest.");
      page.table({"accountant", {"epsilon", true}}, prices);
    }
  }
  if (!record.warnings.empty()) {
    page.heading("Warnings");
    page.list(record.warnings);
  }
  page.heading("Versions");
  std::vector<std::pair<std::string, Cell>> versions;
  for (const auto& [name, version] : record.versions) versions.emplace_back(name, version);
  if (versions.empty()) versions.emplace_back("sotto", record.version);
  page.facts(versions);
  page.heading("How to reproduce");
  if (record.command.empty())
    page.paragraph("The record does not hold the command line.");
  else
    page.code(shell_command(record.command));
  page.paragraph(record.privacy.insecure_seed
                     ? "The seed makes every run the same, which is what makes it insecure."
                     : "Noise is drawn afresh each time, so another run gives other digits; it "
                       "also spends the "
                       "budget again.");
  page.paragraph(
      "`sotto verify` holds a run record against itself: it prices the events anew with every "
      "accountant and checks that all that was drawn was charged. `sotto audit` attacks the "
      "method.");
}

}  // namespace

void add_warnings(Page& page, const ReportedRun& run, const std::string& who) {
  const PrivacyStatement& privacy = run.record.privacy;
  if (!run.contradictions.empty())
    page.banner(Tone::kDanger,
                "DO NOT TRUST: the run record contradicts itself",
                who + fmt::format(": {}.", fmt::join(run.contradictions, "; ")));
  if (privacy.unsafe_diagnostics)
    page.banner(
        Tone::kDanger,
        "NOT PRIVATE: true training values were printed",
        who + with_flags(
                  " was made with `‘unsafe_diagnostics’`. It shows exact values of the training "
                  "data, which no epsilon covers. Do not pass it on."));
  if (privacy.insecure_seed)
    page.banner(
        Tone::kDanger,
        "NOT PRIVATE: the randomness is known",
        who + with_flags(
                  " used `‘seed’`. Whoever knows the seed can subtract the noise. Seeds are for "
                  "tests and made-up data."));
  if (!privacy.is_private)
    page.banner(
        Tone::kDanger,
        "NOT PRIVATE: no guarantee at all",
        who + fmt::format(" used the method `{}`, which adds no noise. It is a reference for "
                          "comparisons.",
                          run.record.method));
}

std::string shell_command(const std::vector<std::string>& arguments) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-_=+.,:/@%").find(c) != std::string_view::npos;
  };
  std::string text = "sotto";
  for (const auto& word : arguments) {
    text += ' ';
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) {
      if (c == '\'')
        text += "'\\''";
      else
        text += c;
    }
    text += '\'';
  }
  return text;
}

std::string run_page(const ReportedRun& run) {
  const RunRecord& record = run.record;
  Page page(
      fmt::format("Privacy report: {}", record.method),
      fmt::format("{} steps, stopped: {}", with_commas(record.steps), to_string(record.stopped)));
  add_warnings(page, run, "This run");
  privacy_section(page, run);
  budget_section(page, run);
  values_section(page, run);
  certificate_section(page, record);
  test_section(page, run);
  circumstances(page, run);
  return page.html();
}

}  // namespace sotto
