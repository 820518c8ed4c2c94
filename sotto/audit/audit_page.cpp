#include "sotto/audit/audit_page.hpp"

#include <fmt/format.h>

#include "sotto/report/page.hpp"
#include "sotto/report/privacy_words.hpp"
#include "sotto/report/run_page.hpp"

namespace sotto {
namespace {

struct VerdictWords {
  Tone tone;
  std::string title;
  std::string text;
};

VerdictWords words_for(const AuditReport& report, const MethodAuditOptions& options) {
  switch (report.verdict) {
    case Verdict::kContradicts:
      return {Tone::kDanger,
              "The claim is contradicted",
              fmt::format("The attack shows an epsilon of at least {}, more than the claimed {}. A "
                          "correct method has this bad luck in at most {:.3g} % of audits.",
                          rounded_down(report.judgement.lower_bound),
                          rounded_up(options.epsilon, 6),
                          100 * (1 - options.confidence))};
    case Verdict::kNotEnoughPower:
      return {Tone::kWarning,
              "Consistent so far, but there were too few runs to tell",
              fmt::format("A method that is {:g} times less private than claimed might have gone "
                          "unnoticed. {} runs per world would find it with probability {:g}.",
                          kDetectable,
                          with_commas(report.runs_needed),
                          kPower)};
    case Verdict::kConsistent:
      break;
  }
  return {Tone::kGood,
          "The claim survived the attack",
          fmt::format("A method that is {:g} times less private than claimed would have been found "
                      "with probability {:g} by the best attack.",
                      kDetectable,
                      kPower)};
}

Chart roc_chart(const std::vector<RocPoint>& roc) {
  Chart chart;
  chart.title = "How well the two worlds were told apart";
  chart.note =
      "The share of runs with the canary that a test detects, against the share of false alarms. "
      "The attack must stay on or below the claim's line, up to chance.";
  chart.x_label = "false alarms";
  chart.y_label = "detected";
  Chart::Series attack{"the attack"};
  Chart::Series claimed{"at most, by the claim"};
  Chart::Series guessing{"guessing", {{0, 0}, {1, 1}}};
  claimed.dashed = true;
  guessing.dashed = true;
  for (const RocPoint& point : roc) {
    attack.points.emplace_back(point.false_alarm, point.detected);
    claimed.points.emplace_back(point.false_alarm, point.claimed);
  }
  chart.series = {std::move(attack), std::move(claimed), std::move(guessing)};
  return chart;
}

void add_command(Page& page, const std::vector<std::string>& command) {
  page.heading("Versions");
  std::vector<std::pair<std::string, Cell>> versions;
  for (const auto& [name, version] : build_versions()) versions.emplace_back(name, version);
  page.facts(versions);
  if (command.empty()) return;
  page.heading("How to reproduce").code(shell_command(command));
}

}  // namespace

std::string audit_page(const MethodAuditOptions& options,
                       const PreparedRun& prepared,
                       const AuditReport& report,
                       const std::vector<RocPoint>& roc,
                       const std::vector<std::string>& command) {
  const Judgement& judged = report.judgement;
  Page page(fmt::format("Audit: {}", options.method),
            fmt::format("{}: claimed epsilon {} at delta {}, {}",
                        to_string(report.verdict),
                        rounded_up(options.epsilon, 6),
                        rounded_up(options.delta),
                        to_string(options.relation)));
  page.heading("Verdict");
  const VerdictWords words = words_for(report, options);
  page.banner(words.tone, words.title, words.text);
  page.figures(
      {{"claimed epsilon", rounded_up(options.epsilon, 6), "at most"},
       {"found", rounded_down(judged.lower_bound), "at least"},
       {"confidence", fmt::format("{:g} %", 100 * options.confidence), "of the lower bound"},
       {"runs", with_commas(report.runs), "of each of the two worlds"}});
  page.heading("What was done");
  page.paragraph(fmt::format(
      "The method was run {} times on each of two made-up data sets that differ in one record, the "
      "canary, with everything as in a real run: plan, calibration, ledger, noise, optimizer. An "
      "attacker who knows every other record and sees {} then tried to tell which data set it was.",
      with_commas(report.runs),
      options.view == View::kAll ? "all released values" : "the final model"));
  page.chart(roc_chart(roc));
  page.facts({{"lower bound",
               fmt::format("{} by the claimed trade-off curve ({}), {} by (epsilon, delta) alone",
                           rounded_down(judged.lower_bound),
                           report.curve,
                           rounded_down(judged.plain_bound))},
              {"best test",
               fmt::format("wrong on {} of {} runs without the canary and on {} of {} with it",
                           with_commas(judged.counts.false_alarms),
                           with_commas(judged.counts.trials0),
                           with_commas(judged.counts.misses),
                           with_commas(judged.counts.trials1))},
              {"model", options.network ? options.network->name : "linear, 10 features"},
              {"view", std::string(to_string(options.view))},
              {"canary", std::string(to_string(options.canary))}});
  page.subheading("What an audit does not show");
  page.list(
      {"It finds mistakes; it proves no guarantee. The guarantee is the accountant's.",
       "It attacks this method with these settings on made-up data. No private row was read, so "
       "the page may be shown to anybody."});
  page.heading("Settings");
  Rows rows;
  for (const auto& setting : prepared.configured.settings)
    if (setting.value != "none")
      rows.push_back(
          {Cell(setting.name), Cell(setting.value), Cell(std::string(to_string(setting.origin)))});
  page.table({"setting", "value", "origin"}, rows);
  page.paragraph(fmt::format("Plan: `{}`",
                             prepared.plan.filter.empty() ? to_string(prepared.plan.event)
                                                          : "filter " + prepared.plan.filter));
  add_command(page, command);
  return page.html();
}

std::string one_run_page(const TrainOptions& train,
                         const OneRunOptions& options,
                         const OneRunReport& report,
                         const std::vector<std::string>& command) {
  const OneRunGuess& guess = report.guess;
  const bool contradicts = guess.lower_bound > report.epsilon;
  Page page(fmt::format("Audit in one run: {}", train.method),
            fmt::format("{}: claimed epsilon {} at delta {}, zero-out",
                        contradicts ? "contradicts the claim" : "consistent",
                        rounded_up(report.epsilon),
                        rounded_up(train.delta)));
  page.banner(
      Tone::kDanger,
      "NOT PRIVATE: for the data's owner only",
      "This run trained on the private rows without a journal, and no charge covers what "
      "this page shows: the guesses depend on secret coins and on every row. Do not pass it "
      "on, with the model or without.");
  page.heading("Verdict");
  page.banner(
      contradicts ? Tone::kDanger : Tone::kGood,
      contradicts ? "The claim is contradicted" : "The claim survived the attack",
      "One real training run with made-up records, the canaries, each inserted by a fair "
      "coin; the attacker guesses from the released gradients which ones were. The bound is "
      "weaker than that of a full audit, but it is about this run.");
  page.figures({{"claimed epsilon", rounded_up(report.epsilon), "at most"},
                {"found", rounded_down(guess.lower_bound), "at least"},
                {"guesses", fmt::format("{} of {}", guess.correct, guess.guesses), "right"},
                {"canaries", with_commas(options.canaries), ""}});
  page.facts(
      {{"confidence", fmt::format("{:g} %", 100 * options.confidence)},
       {"left open", with_commas(options.canaries - guess.guesses) + " canaries"},
       {"what the canaries did",
        fmt::format("{:.2g} % of the units; they moved every mean gradient by {:.2g} clip radii",
                    100 * report.canary_share,
                    report.canary_pull)}});
  add_command(page, command);
  return page.html();
}

}  // namespace sotto
