#include "sotto/data/schema_draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "sotto/core/nearest.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/core/text.hpp"
#include "sotto/data/date_form.hpp"
#include "sotto/data/public_words.hpp"

namespace sotto {
namespace {

using FactsType = ColumnFacts::Type;

constexpr const char* kDay = "%Y-%m-%d";
constexpr const char* kSecond = "%Y-%m-%d %H:%M:%S";
constexpr std::size_t kWidth = 100;

bool is_numeric_type(const ColumnFacts& facts) {
  return facts.type == FactsType::kInteger || facts.type == FactsType::kReal;
}
bool is_date_type(const ColumnFacts& facts) {
  return facts.type == FactsType::kDate || facts.type == FactsType::kTime;
}

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

/// Whole numbers that are written in one way need no quotes.
std::string as_value(const std::string& text) {
  constexpr std::size_t kMostDigits = 15;
  const bool is_whole = !text.empty() && text.size() <= kMostDigits &&
                        text.find_first_not_of("0123456789") == text.npos &&
                        (text == "0" || text.front() != '0');
  return is_whole ? text : in_quotes(text);
}

/// `key = ["a", 1]`, broken where the line is full.
std::string list_line(const std::string& key, const std::vector<std::string>& items) {
  std::string text = key + " = [";
  std::size_t line = 0;  // where it begins
  const std::string indent(text.size(), ' ');
  for (std::size_t k = 0; k < items.size(); ++k) {
    const std::string item = (key == "names" ? in_quotes(items[k]) : as_value(items[k])) +
                             (k + 1 < items.size() ? "," : "]");
    if (k > 0 && text.size() - line + 1 + item.size() > kWidth) {
      text += "\n";
      line = text.size();
      text += indent;
    } else if (k > 0) {
      text += " ";
    }
    text += item;
  }
  return text + "\n";
}

std::string question_line(const std::string& key, const std::string& question) {
  return fmt::format("{} = \"TODO: {}\"\n", key, question);
}

std::string bound_line(const char* key, const ColumnFacts& facts) {
  const bool is_min = key == std::string_view("min");
  const auto& bound = is_min ? facts.min : facts.max;
  const char* end = is_min ? "least" : "greatest";
  if (!bound && is_date_type(facts))
    return question_line(key,
                         fmt::format("the {} date that can be by the column's meaning, in quotes?",
                                     is_min ? "first" : "last"));
  if (!bound)
    return question_line(
        key,
        fmt::format("the {} value that can be by the column's meaning? Never one from rows.", end));
  if (!is_date_type(facts)) return fmt::format("{} = {}\n", key, *bound);
  const auto form = DateForm::parse(facts.type == FactsType::kDate ? kDay : kSecond);
  return fmt::format("{} = \"{}\"\n", key, form->text(*bound));
}

/// Of a column that nothing is said of but its name, and perhaps that it is a number.
std::string open_body(const ColumnFacts& facts) {
  switch (likely_kind(facts.name)) {
    case LikelyKind::kPersonId:
      return question_line("kind",
                           "does it name the person whose rows these are? Then unit, else ignore.");
    case LikelyKind::kId:
      return question_line("kind", "an id (then ignore), or a code (then categorical)?") +
             "# values = [1, 2, 3]         # the code's public list\n";
    case LikelyKind::kIdentity:
      return question_line("kind", "it seems to tell who somebody is. Then ignore?");
    case LikelyKind::kCount:
      return question_line("kind", "a count? Then take the next lines for this one.") +
             "# kind = \"numeric\"\n# scale = \"log1p\"\n# min = 0\n# max = 100   # and more "
             "counts "
             "as this\n";
    case LikelyKind::kDate:
      return question_line("kind", "a date? Then take the next lines for this one.") +
             fmt::format(
                 "# kind = \"numeric\"\n# date = \"{}\"\n# min = \"2000-01-01\"\n# max = "
                 "\"2030-12-31\"\n",
                 kDay);
    case LikelyKind::kAge:
      return question_line("kind", "an age? Then take the next lines for this one.") +
             "# kind = \"numeric\"\n# min = 0\n# max = 120\n";
    case LikelyKind::kSex:
      return question_line("kind", "a sex? Then take the next lines for this one.") +
             "# kind = \"categorical\"\n# values = [[\"F\", \"Female\"], [\"M\", \"Male\"]]\n# "
             "case "
             "= \"ignore\"\n";
    case LikelyKind::kDiagnosis:
      return question_line("kind", "codes of diseases? Then take the next lines for this one.") +
             "# kind = \"categorical\"\n# prefix = 3\n# ranges = [[\"circulatory\", 390, 459], "
             "[\"diabetes\", 250, 250]]   # ICD-9\n# other = true\n";
    case LikelyKind::kYesNo:
      return question_line("kind", "yes or no? Then take the next lines for this one.") +
             "# kind = \"categorical\"\n# values = [\"yes\", \"no\"]\n";
    case LikelyKind::kCategory:
      return question_line("kind", "a category? Then take the next lines, with its public list.") +
             "# kind = \"categorical\"\n# values = [\"a\", \"b\"]\n# other = true\n";
    case LikelyKind::kUnknown:
      break;
  }
  return question_line("kind",
                       "numeric, categorical or ignore? Give each kind a group of its own:") +
         "# kind = \"numeric\"\n# min = 0\n# max = 100\n"
         "# kind = \"categorical\"\n# values = [\"yes\", \"no\"]\n";
}

std::string numeric_body(const ColumnFacts& facts, const DraftChoices& choices) {
  std::string text = "kind = \"numeric\"\n";
  if (is_date_type(facts))
    text += fmt::format("date = \"{}\"\n", facts.type == FactsType::kDate ? kDay : kSecond);
  if (choices.log.contains(facts.name)) text += "scale = \"log1p\"\n";
  text += bound_line("min", facts) + bound_line("max", facts);
  if (is_numeric_type(facts) && !facts.min && !facts.max &&
      likely_kind(facts.name) == LikelyKind::kCount)
    text += "# min = 0              # if it is a count\n# scale = \"log1p\"\n";
  return text;
}

std::string label_body(const ColumnFacts& facts, const DraftChoices& choices) {
  std::string text = "kind = \"label\"\n";
  if (choices.positive.empty() && facts.values.size() > 2)
    return text + list_line("classes", facts.values);
  if (choices.positive.empty() && facts.values.empty() && is_numeric_type(facts) && facts.min &&
      facts.max)
    return text + bound_line("min", facts) + bound_line("max", facts);
  std::vector<std::string> negative;
  for (const std::string& value : facts.values)
    if (std::find(choices.positive.begin(), choices.positive.end(), value) ==
        choices.positive.end())
      negative.push_back(value);
  text += choices.positive.empty()
              ? question_line("positive", "the spellings of the positive class, in a list?")
              : list_line("positive", choices.positive);
  text += choices.positive.empty() || negative.empty()
              ? question_line("negative", "the spellings of all that is not positive, in a list?")
              : list_line("negative", negative);
  if (choices.positive.empty() && facts.values.empty())
    text += "# or classes = [\"a\", \"b\", \"c\"]; or, for a number, min and max\n";
  return text;
}

/// All of a column but its name: columns with the same text form a group.
std::string body_of(const ColumnFacts& facts, const DraftChoices& choices) {
  if (facts.name == choices.person) return "kind = \"unit\"\n";
  if (facts.name == choices.label) return label_body(facts, choices);
  if (choices.ignored.contains(facts.name) || facts.key) return "kind = \"ignore\"\n";
  const LikelyKind likely = likely_kind(facts.name);
  const bool is_id = likely == LikelyKind::kPersonId || likely == LikelyKind::kId ||
                     likely == LikelyKind::kIdentity;
  if (!facts.values.empty()) return "kind = \"categorical\"\n" + list_line("values", facts.values);
  if (facts.type == FactsType::kBoolean)
    return "kind = \"categorical\"\nvalues = [[\"1\", \"true\", \"t\", \"yes\", \"y\"], [\"0\", "
           "\"false\", \"f\", \"no\", \"n\"]]\ncase = \"ignore\"\n";
  if (is_date_type(facts) || (is_numeric_type(facts) && (!is_id || (facts.min && facts.max))))
    return numeric_body(facts, choices) + (facts.nullable ? "missing_indicator = true\n" : "");
  if (!facts.refers_to.empty())
    return "kind = \"categorical\"\n" +
           question_line("values",
                         fmt::format("the codes of {}, in a list? If that table is public, draft "
                                     "again with {} and its name.",
                                     facts.refers_to,
                                     with_flags("‘public_table’")));
  return open_body(facts);
}

std::string comment_lines(const std::vector<const ColumnFacts*>& group, bool is_open) {
  std::string text;
  for (const ColumnFacts* facts : group) {
    if (facts->comment.empty() || (group.size() > 1 && !is_open)) continue;
    std::string line =
        "# " + (group.size() > 1 ? facts->name + ": " : "") + on_one_line(facts->comment);
    if (line.size() > kWidth) {
      std::size_t end = kWidth - 3;
      while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80) --end;
      line = line.substr(0, end) + "…";
    }
    text += line + "\n";
  }
  return text;
}

Expected<void> check_column(const std::string& name,
                            const char* option,
                            const std::vector<ColumnFacts>& columns) {
  std::vector<std::string> names;
  for (const auto& facts : columns) names.push_back(facts.name);
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return {};
  return fail(
      ErrorKind::kUsage,
      fmt::format(
          "{} names '{}', which is no column.{}", marked(option), name, did_you_mean(name, names)));
}

/// That the draft is TOML, and a schema once its questions are answered.
Expected<void> check_texts(const std::vector<ColumnFacts>& columns, const DraftChoices& choices) {
  const auto check = [](const std::string& text, const std::string& place) -> Expected<void> {
    if (const std::string why = why_not_in_a_draft(text); !why.empty())
      return fail(ErrorKind::kUsage,
                  fmt::format("{}, '{}', {}, so that no schema can have it.", place, text, why));
    return {};
  };
  for (const ColumnFacts& facts : columns) {
    SOTTO_TRY(check(facts.name, "the name of a column"));
    for (const std::string& value : facts.values)
      SOTTO_TRY(check(value, fmt::format("a value of column '{}'", facts.name)));
  }
  for (const std::string& spelling : choices.positive)
    SOTTO_TRY(check(spelling, "a spelling of the positive class"));
  if (std::set<std::string>(choices.positive.begin(), choices.positive.end()).size() <
      choices.positive.size())
    return fail(ErrorKind::kUsage, "a spelling of the positive class is there twice.");
  return {};
}

/// Bounds that no schema takes, which a catalogue may have, are a question again.
std::vector<ColumnFacts> without_contradictions(std::vector<ColumnFacts> columns) {
  for (ColumnFacts& facts : columns) {
    std::vector<std::string> values;
    for (std::string& value : facts.values)
      if (std::find(values.begin(), values.end(), value) == values.end())
        values.push_back(std::move(value));
    facts.values = std::move(values);
    if (contradiction_in(facts).empty()) continue;
    facts.min.reset();
    facts.max.reset();
  }
  return columns;
}

std::string head(const DraftChoices& choices) {
  std::string text =
      "# A draft. Replace each TODO by what the column means, never by what is in its rows; "
      "`sotto\n"
      "# schema check` lists those that are left.\n\n[file]\nheader = true\n";
  if (choices.separator != ',')
    text += choices.separator == '\t' ? "separator = \"\\t\"\n"
                                      : fmt::format("separator = \"{}\"\n", choices.separator);
  return text +
         "# missing = [\"?\", \"\"]     # spellings of a missing value; default: none but an "
         "empty field\n";
}

}  // namespace

bool is_described(const ColumnFacts& facts, const DraftChoices& choices) {
  return open_questions(body_of(facts, choices)) == 0;
}

int open_questions(std::string_view draft) {
  int count = 0;
  for (std::size_t at = draft.find("\"TODO:"); at != draft.npos;
       at = draft.find("\"TODO:", at + 1)) {
    const std::size_t line = draft.rfind('\n', at);
    if (draft[line == draft.npos ? 0 : line + 1] != '#') ++count;  // not what a comment quotes
  }
  return count;
}

Expected<std::string> draft_schema(const std::vector<ColumnFacts>& given,
                                   const DraftChoices& choices) {
  const std::vector<ColumnFacts> columns = without_contradictions(given);
  SOTTO_TRY(check_texts(columns, choices));
  SOTTO_TRY(check_column(choices.label, "label", columns));
  SOTTO_TRY(check_column(choices.person, "person", columns));
  if (!choices.label.empty() && choices.label == choices.person)
    return fail(ErrorKind::kUsage,
                fmt::format("'{}' can't be both the label and the person.", choices.label));
  std::vector<std::pair<std::string, std::vector<const ColumnFacts*>>> groups;
  std::map<std::string, std::size_t> places;
  for (const ColumnFacts& facts : columns) {
    const std::string body = body_of(facts, choices);
    const auto [place, is_new] = places.emplace(body, groups.size());
    if (is_new) groups.push_back({body, {}});
    groups[place->second].second.push_back(&facts);
  }
  // What is known stands last: nobody has to do anything about it.
  std::stable_partition(groups.begin(), groups.end(), [](const auto& group) {
    return open_questions(group.first) > 0;
  });
  std::string text = head(choices);
  if (choices.label.empty())
    text += "\n[[column]]\n" +
            question_line("name", "which column is to be predicted? Take it out of its group.") +
            label_body({}, choices);
  for (const auto& [body, group] : groups) {
    std::vector<std::string> names;
    for (const ColumnFacts* facts : group) names.push_back(facts->name);
    text += "\n" + comment_lines(group, open_questions(body) > 0) + "[[column]]\n" +
            (names.size() == 1 ? fmt::format("name = {}\n", in_quotes(names.front()))
                               : list_line("names", names)) +
            body;
  }
  return text;
}

}  // namespace sotto
