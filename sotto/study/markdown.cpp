#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sotto/core/option_names.hpp"
#include "sotto/study/document.hpp"
#include "sotto/study/tables.hpp"
#include "sotto/study/verdict.hpp"

namespace sotto::study {
namespace {

/// A bar would end a table's cell.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

std::string row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const auto& each : cells) line += " " + cell(each) + " |";
  return line + "\n";
}

std::string header(const std::vector<std::string>& titles) {
  std::string rule = "|";
  for (std::size_t k = 0; k < titles.size(); ++k) rule += "---|";
  return row(titles) + rule + "\n";
}

/// Characters, of which UTF-8 may need several bytes each.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

/// Prose in lines of at most 100 characters, the further ones indented. Code in backquotes and
/// links stay in one piece, and no line begins with what would be a list's mark.
std::string wrapped(const std::string& text, std::string line, const std::string& indent) {
  constexpr std::size_t kColumns = 100;
  std::string result, word;
  bool begun = false, code = false;
  std::size_t last = 0;  // where the line's last word begins
  int bracket = 0;
  const auto put = [&] {
    if (word.empty()) return;
    const bool is_mark = word.find_first_not_of("-+*=#>") == word.npos;
    const bool holds_one = last <= indent.size();
    if (begun && width(line) + 1 + width(word) > kColumns && !(is_mark && holds_one)) {
      // A mark takes the word before it along.
      const std::string moved = is_mark ? line.substr(last) + " " + word : word;
      if (is_mark) line.resize(last - 1);
      result += line + "\n";
      line = indent + moved;
      last = line.size() - word.size();
    } else {
      line += (begun ? " " : "");
      last = line.size();
      line += word;
    }
    begun = true;
    word.clear();
  };
  for (const char c : text) {
    if (c == '`') code = !code;
    if (!code && (c == '[' || c == ']')) bracket += c == '[' ? 1 : -1;
    if (c == ' ' && !code && bracket <= 0)
      put();
    else
      word += c;
  }
  put();
  return result + line + "\n";
}

std::string paragraph(const std::string& text) { return wrapped(text, "", ""); }

std::string list(const std::string& title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string text = fmt::format("\n## {}\n\n", title);
  for (const auto& item : items) text += wrapped(item, "- ", "  ");
  return text;
}

std::string panel_text(const Panel& panel) {
  std::string text = panel.title.empty() ? "\n" : fmt::format("\n### {}\n\n", panel.title);
  std::vector<std::string> titles = {"cell", "what", "ε"};
  titles.insert(titles.end(), panel.columns.begin(), panel.columns.end());
  text += header(titles);
  std::string before;
  for (const auto& line : panel.lines) {
    std::vector<std::string> cells = {line.cell == before ? "" : line.cell,
                                      line.what,
                                      line.over ? "**" + line.epsilon + "**" : line.epsilon};
    cells.insert(cells.end(), line.values.begin(), line.values.end());
    text += row(cells);
    before = line.cell;
  }
  return text;
}

std::string made_by() {
  return with_flags(
      "<!-- Made by `sotto reproduce ‘render’` from the .json beside it and studies/*.toml. Do not "
      "edit. -->\n");
}

}  // namespace

std::string markdown_of(const StudySpec& spec,
                        const Results& results,
                        const std::vector<ClaimLine>& claims) {
  std::string text = fmt::format("{}# {}: {}\n\n", made_by(), spec.name, spec.title) +
                     paragraph(fmt::format("{}. {}", origin_of(spec), provenance(results)));
  if (!claims.empty()) {
    text += "\n## Claims\n\n" + paragraph(kHowDecided) + "\n" +
            header({"item", "claim", "holds", "evidence"});
    for (const auto& line : claims) text += row({line.item, line.claim, line.word, line.evidence});
  }
  text += list("Notes", spec.notes);
  text += list("Used instead", spec.instead);
  if (!spec.cells.empty())
    text += "\n## Numbers\n\n" +
            paragraph(
                "ε of a recipe: what its noise really spends, by Sotto's accountant; bold where "
                "that is more than was stated. ε of Sotto: certified.");
  for (const auto& panel : panels_of(spec, results)) text += panel_text(panel);
  if (!charts_of(spec, results).empty())
    text += fmt::format("\n## Plots\n\n![{}]({}.svg)\n", spec.title, spec.name);
  const auto slopes = slopes_of(spec, results);
  if (!slopes.empty()) {
    text += "\n## Exponents\n\n" + header({"of", "measured", "theory"});
    for (const auto& slope : slopes) text += row({slope.title, slope.measured, slope.theory});
  }
  text += list(spec.cells.empty() ? "Formulas" : "Formulas of the recipes", formulas_of(spec));
  text += list("[Traps](../traps.md)", spec.traps);
  std::vector<std::string> sets;
  for (const auto& [name, data] : spec.data)
    sets.push_back(fmt::format("{}: {}", name, data.about));
  text += list("Data", sets);
  return text;
}

std::string markdown_index(const std::vector<PaperSpec>& papers,
                           const std::vector<Reproduced>& all) {
  const auto link = [&](const std::string& name) {
    for (const auto& each : all)
      if (each.spec.name == name)
        return each.results ? fmt::format("[{}]({}.md)", name, name) : name + " (not run)";
    return name;
  };
  std::string text =
      made_by() + "# Five papers, reproduced\n\n" +
      paragraph(
          "Every table and figure is one command, `sotto reproduce NAME`. Each shows what the "
          "paper printed, the paper's own recipe with the ε that its noise really spends, and "
          "Sotto's method at the stated ε, certified. T1 to T30 are [traps](../traps.md) in "
          "the papers.") +
      "\n" + paragraph(kHowDecided);
  for (const auto& paper : papers) {
    text += fmt::format("\n## {}\n\n{}\n", title_of(paper), paragraph(summary_of(paper, all)));
    text += header({"item", "claim", "holds", "evidence", "see"});
    for (const auto& line : claim_lines(paper, all)) {
      std::string see;
      for (const auto& name : line.see) see += (see.empty() ? "" : ", ") + link(name);
      text += row({line.item, line.claim, line.word, line.evidence, see});
    }
    std::string names;
    for (const auto& name : paper.reproductions) names += (names.empty() ? "" : ", ") + link(name);
    text += "\n" + paragraph("Reproductions: " + names + ".");
  }
  text += "\n## Every published number\n\n" + header({"reproduction",
                                                      "cell",
                                                      "measure",
                                                      "printed",
                                                      "its recipe",
                                                      "ε it spends",
                                                      "Sotto",
                                                      "ε certified"});
  for (const auto& each : all)
    for (const auto& line : comparisons_of(each.spec, each.results.value_or(Results{})))
      text += row({line.reproduction,
                   line.cell,
                   line.measure,
                   line.printed,
                   line.recipe,
                   line.recipe_epsilon,
                   line.best,
                   line.best_epsilon});
  return text;
}

}  // namespace sotto::study
