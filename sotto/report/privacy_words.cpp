#include "sotto/report/privacy_words.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sotto/core/directed_text.hpp"

namespace sotto {
namespace {

/// 1.2e-06 as 1.2e-6, and 1.2e+07 as 1.2e7.
std::string tidy(std::string text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  if (text[e + 1] == '+') text.erase(e + 1, 1);
  const std::size_t digits = e + (text[e + 1] == '-' ? 2 : 1);
  while (digits + 1 < text.size() && text[digits] == '0') text.erase(digits, 1);
  return text;
}

std::string in_words(double value, std::string text) {
  if (!std::isfinite(value)) return value > 0 ? "infinite" : "-";
  return tidy(std::move(text));
}

std::string unit_words(const PrivacyStatement& privacy) {
  return privacy.unit == "row" ? "row"
                               : fmt::format("person (all rows with the same `{}`)", privacy.unit);
}

std::string relation_words(const PrivacyStatement& privacy) {
  const std::string unit = privacy.unit == "row" ? "row" : "person's rows";
  const std::string number = with_commas(privacy.public_n);
  switch (privacy.neighbours) {
    case Relation::kZeroOut:
      return fmt::format(
          "The run behaves almost the same if any one {} is emptied, so that it has no effect "
          "at all (relation `zero-out`). How many there are, {}, is public.",
          unit,
          number);
    case Relation::kReplaceOne:
      return fmt::format(
          "The run behaves almost the same if any one {} is replaced by anything else (relation "
          "`replace-one`). How many there are, {}, is public.",
          unit,
          number);
    case Relation::kAddRemove:
      return fmt::format(
          "The run behaves almost the same if any one {} is added or taken away (relation "
          "`add-remove`). How many there are is secret, too; {} is the number that was declared.",
          unit,
          number);
  }
  return "";
}

std::string amount_words(const ReportedRun& run) {
  const RunRecord& record = run.record;
  const PrivacyStatement& privacy = record.privacy;
  std::string text = fmt::format(
      "epsilon at most {} at delta {}", rounded_up(privacy.epsilon), rounded_up(privacy.delta));
  if (run.by_filter())
    return text + fmt::format(
                      ", certified by the {} filter: releases were chosen during the run, so the "
                      "whole budget counts as spent.",
                      privacy.accountant);
  if (record.epsilon_lower && *record.epsilon_lower > 0)
    return text +
           fmt::format(
               ". The {} accountant proves that the exact value for the plan lies between {} "
               "and {}.",
               privacy.accountant,
               rounded_down(*record.epsilon_lower),
               rounded_up(privacy.epsilon));
  return text +
         fmt::format(", an upper bound proved by the {} accountant (which proves no lower one).",
                     privacy.accountant);
}

std::string odds_words(const PrivacyStatement& privacy) {
  return fmt::format(
      "Whatever somebody believed beforehand, seeing everything that was released moves the odds "
      "that a given {} was used by a factor of at most {}, up to the failure probability delta. "
      "Somebody who starts at 50 : 50 guesses rightly in at most {:.1f} % of cases.",
      privacy.unit == "row" ? "row" : "person",
      rounded_up(std::exp(privacy.epsilon)),
      std::ceil(1000 * best_guess(privacy.epsilon, privacy.delta)) / 10);
}

}  // namespace

double best_guess(double epsilon, double delta) {
  return 1 - (1 - delta) / (1 + std::exp(epsilon));
}

std::string rounded_up(double value, int digits) { return in_words(value, text_up(value, digits)); }
std::string rounded_down(double value, int digits) {
  return in_words(value, text_down(value, digits));
}
std::string rounded(double value) {
  return std::isfinite(value) ? tidy(fmt::format("{:.4g}", value)) : "-";
}
std::string short_text(double value) { return tidy(fmt::format("{:g}", value)); }

std::string with_commas(std::int64_t value) {
  std::string text = fmt::format("{}", value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, ",");
  return text;
}

PrivacyWords privacy_words(const ReportedRun& run) {
  const PrivacyStatement& privacy = run.record.privacy;
  const bool by_row = privacy.unit == "row";
  PrivacyWords words;
  words.headline = fmt::format(
      "Everything that this run released, the model included, would look almost the same "
      "{} any one {} of the training data.",
      privacy.neighbours == Relation::kReplaceOne ? "with other values in" : "without",
      unit_words(privacy));
  words.promise = {
      {"What was protected",
       fmt::format("Each single {} of the training data, with all of its values and its label.",
                   unit_words(privacy))},
      {"For whom", relation_words(privacy)},
      {"Against what",
       "Anybody who sees the model, this report, the run record and all messages, with unlimited "
       "computing power, who knows the program, its settings and every other record."},
      {"How much", amount_words(run)},
      {"What that means", odds_words(privacy)}};
  if (privacy.most_rows > 0)
    words.promise.insert(
        words.promise.begin() + 1,
        {"Rows per person",
         fmt::format("At most {}, the first in the file's order; further ones had no part in "
                     "training. How many those were is secret.",
                     with_commas(privacy.most_rows))});
  words.not_promised = {
      "**Patterns of the whole population.** What holds with or without any one person can be "
      "learned, and may let somebody guess about people who were never in the data.",
      "**Other runs on the same data.** Each has its own budget, and the budgets add up: training "
      "twenty times and keeping the best costs all twenty.",
      "**The test set.** Metrics on it are exact numbers. It must be public, or its owners must "
      "not mind.",
      "**Groups.** k records that belong together are protected with about k times this epsilon.",
      "**The machine and its clock.** Who can read the training computer's memory or disk reads "
      "the data; running times are outside the promise, and in no file that the run leaves."};
  if (by_row)
    words.not_promised.insert(
        words.not_promised.begin() + 1,
        "**People with several rows.** The guarantee is for one row. If a person has several, "
        "their protection is weaker; declare a `unit` column to protect persons.");
  return words;
}

}  // namespace sotto
