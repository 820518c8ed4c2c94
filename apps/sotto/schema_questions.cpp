#include "schema_questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "printer.hpp"
#include "sotto/core/nearest.hpp"
#include "sotto/data/io/input_file.hpp"

namespace sotto::app {
namespace {

/// Standard input, line by line: whoever answers sees each question first.
class Answers {
 public:
  static Expected<Answers> open() {
    SOTTO_ASSIGN(InputFile input, InputFile::standard_input());
    return Answers(std::move(input));
  }

  /// None: there are no more.
  Expected<std::optional<std::string>> next() {
    std::string line;
    for (char c = 0;; line += c) {
      SOTTO_ASSIGN(const std::size_t got, input_.read({&c, 1}));
      if (got == 0 && line.empty()) return std::optional<std::string>();
      if (got == 0 || c == '\n' || line.size() > kMostBytes) break;
    }
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    return std::optional(std::move(line));
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  explicit Answers(InputFile input) : input_(std::move(input)) {}
  InputFile input_;
};

/// The name of a column other than the one that is taken, or nothing. False: there are no answers.
Expected<bool> ask_column(Answers& answers,
                          const char* question,
                          const std::vector<ColumnFacts>& columns,
                          const std::string& taken,
                          std::string& name) {
  std::vector<std::string> names;
  for (const auto& facts : columns)
    if (facts.name != taken) names.push_back(facts.name);
  for (;;) {
    say("{} ", question);
    SOTTO_ASSIGN(const auto line, answers.next());
    if (!line) return false;
    if (line->empty() || std::find(names.begin(), names.end(), *line) != names.end()) {
      name = *line;
      return true;
    }
    say("There is no such column to choose: '{}'.{}\n", *line, did_you_mean(*line, names));
  }
}

Expected<bool> ask_one(Answers& answers,
                       ColumnFacts& facts,
                       DraftChoices& choices,
                       std::string& before) {
  for (;;) {
    say("{}{}: ",
        facts.name,
        facts.comment.empty() ? std::string() : fmt::format(" ({})", facts.comment));
    SOTTO_ASSIGN(auto line, answers.next());
    if (!line) return false;
    if (*line == "=") line = before;
    const auto understood = answer(*line, facts, choices);
    if (understood) {
      before = *line;
      return true;
    }
    say("{}\n", understood.error().message);
  }
}

std::vector<std::string> words_between_commas(const std::string& line) {
  ColumnFacts facts;
  DraftChoices choices;
  if (line.find(',') != line.npos && answer(line, facts, choices) && !facts.values.empty())
    return facts.values;
  return {line};
}

/// Spellings, asked for until a schema can have them. None: there are no answers.
Expected<std::optional<std::vector<std::string>>> ask_spellings(Answers& answers,
                                                                const std::string& question) {
  for (;;) {
    say("{} ", question);
    SOTTO_ASSIGN(const auto line, answers.next());
    if (!line) return std::optional<std::vector<std::string>>();
    if (line->empty()) return std::optional(std::vector<std::string>());
    if (const std::string why = why_not_in_a_draft(*line); why.empty())
      return std::optional(words_between_commas(*line));
    else
      say("That {}.\n", why);
  }
}

}  // namespace

Expected<void> ask_about(std::vector<ColumnFacts>& columns, DraftChoices& choices) {
  SOTTO_ASSIGN(Answers answers, Answers::open());
  bool more = true;
  if (choices.label.empty()) {
    SOTTO_ASSIGN(more,
                 ask_column(answers,
                            "Which column is to be predicted? (Enter: later)",
                            columns,
                            choices.person,
                            choices.label));
  }
  if (more && !choices.label.empty() && choices.positive.empty()) {
    SOTTO_ASSIGN(
        const auto spellings,
        ask_spellings(
            answers, "How is its positive class spelled? (a, b; Enter: later, or it is a number)"));
    more = spellings.has_value();
    if (spellings) choices.positive = *spellings;
  }
  if (more && choices.person.empty()) {
    SOTTO_ASSIGN(more,
                 ask_column(answers,
                            "Which column names the person, if one has several rows? (Enter: none)",
                            columns,
                            choices.label,
                            choices.person));
  }
  if (!more) return {};
  say("Now each column, by what it means, never by what is in its rows: 0..120 (a number; 0..120 "
      "log: a count), 2010-01-01..2020-12-31 (a date), a list of values (yes, no; codes 1..30), - "
      "(ignored), = (as the one before), Enter (later).\n");
  std::string before;
  for (ColumnFacts& facts : columns) {
    if (facts.name == choices.label) {
      if (!choices.positive.empty() && facts.values.empty()) {
        SOTTO_ASSIGN(
            const auto spellings,
            ask_spellings(answers,
                          fmt::format("How are all other classes of {} spelled? (Enter: later)",
                                      facts.name)));
        if (!spellings) return {};
        if (!spellings->empty()) {
          facts.values = choices.positive;
          for (const auto& each : *spellings)
            if (std::find(facts.values.begin(), facts.values.end(), each) == facts.values.end())
              facts.values.push_back(each);
        }
      }
      continue;
    }
    if (is_described(facts, choices)) continue;
    SOTTO_ASSIGN(const bool answered, ask_one(answers, facts, choices, before));
    if (!answered) return {};
  }
  return {};
}

}  // namespace sotto::app
