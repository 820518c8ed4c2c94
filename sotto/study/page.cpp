#include "sotto/report/page.hpp"

#include <fmt/format.h>

#include "sotto/study/document.hpp"
#include "sotto/study/tables.hpp"
#include "sotto/study/verdict.hpp"

namespace sotto::study {
namespace {

void list(Page& page, const std::string& title, const std::vector<std::string>& items) {
  if (items.empty()) return;
  page.heading(title);
  page.list(items);
}

void table(Page& page, const Panel& panel) {
  if (!panel.title.empty()) page.subheading(panel.title);
  std::vector<Column> columns = {"cell", "what", Column("ε", true)};
  for (const auto& title : panel.columns) columns.emplace_back(title, true);
  Rows rows;
  std::string before;
  for (const auto& line : panel.lines) {
    std::vector<Cell> cells;
    cells.emplace_back(line.cell == before ? "" : line.cell);
    cells.emplace_back(line.what);
    cells.emplace_back(line.epsilon, line.over ? Tone::kDanger : Tone::kPlain);
    for (const auto& value : line.values) cells.emplace_back(value);
    rows.push_back(std::move(cells));
    before = line.cell;
  }
  page.table(columns, rows);
}

void claim_table(Page& page, const std::vector<ClaimLine>& lines) {
  Rows rows;
  for (const auto& line : lines) {
    const Tone tone = line.whole == Whole::kHolds   ? Tone::kGood
                      : line.whole == Whole::kFails ? Tone::kDanger
                                                    : Tone::kWarning;
    rows.push_back({line.item, line.claim, Cell(line.word, tone), line.evidence});
  }
  page.table({"item", "claim", "holds", "evidence"}, rows);
}

}  // namespace

std::string page_of(const StudySpec& spec,
                    const Results& results,
                    const std::vector<ClaimLine>& claims) {
  Page page(fmt::format("{}: {}", spec.name, spec.title), origin_of(spec));
  if (results.quick)
    page.banner(
        Tone::kWarning,
        "Quick",
        "Fewer cells, rows and runs than a full reproduction: a check that everything runs, "
        "not a result.");
  page.paragraph(provenance(results));
  if (!claims.empty()) {
    page.heading("Claims");
    page.paragraph(kHowDecided);
    claim_table(page, claims);
  }
  list(page, "Notes", spec.notes);
  list(page, "Used instead", spec.instead);
  const auto charts = charts_of(spec, results);
  if (!charts.empty()) page.heading("Figures");
  for (const auto& chart : charts) page.chart(chart);
  if (!spec.cells.empty()) {
    page.heading("Numbers");
    page.paragraph(
        "ε of a recipe: what its noise really spends, by Sotto's accountant; marked where that is "
        "more than was stated. ε of Sotto: certified.");
  }
  for (const auto& panel : panels_of(spec, results)) table(page, panel);
  const auto slopes = slopes_of(spec, results);
  if (!slopes.empty()) {
    page.heading("Exponents");
    Rows rows;
    for (const auto& slope : slopes) rows.push_back({slope.title, slope.measured, slope.theory});
    page.table({"of", Column("measured", true), Column("theory", true)}, rows);
  }
  list(page, spec.cells.empty() ? "Formulas" : "Formulas of the recipes", formulas_of(spec));
  list(page, "Traps", spec.traps);
  std::vector<std::string> sets;
  for (const auto& [name, data] : spec.data)
    sets.push_back(fmt::format("{}: {}", name, data.about));
  list(page, "Data", sets);
  page.heading("How to reproduce");
  page.code(results.command);
  return page.html();
}

std::string page_index(const std::vector<PaperSpec>& papers, const std::vector<Reproduced>& all) {
  Page page("Five papers, reproduced",
            "What was printed, the recipe at the ε it really spends, and Sotto at the stated ε");
  for (const auto& each : all)
    if (each.results && each.results->quick) {
      page.banner(Tone::kWarning, "Quick", "At least one reproduction here was run in quick mode.");
      break;
    }
  const auto find = [&](const std::string& name) -> const Reproduced* {
    for (const auto& each : all)
      if (each.spec.name == name) return &each;
    return nullptr;
  };
  for (const auto& paper : papers) {
    page.heading(title_of(paper));
    page.paragraph(summary_of(paper, all));
    claim_table(page, claim_lines(paper, all));
    Rows rows;
    for (const auto& name : paper.reproductions)
      if (const Reproduced* each = find(name))
        rows.push_back({Cell(name, Tone::kPlain, each->results ? name + ".html" : ""),
                        each->spec.shows,
                        each->spec.title,
                        each->results ? each->results->quick ? "quick" : "full" : "not run"});
    page.table({"reproduction", "shows", "title", "run"}, rows);
  }
  page.heading("Every published number");
  Rows rows;
  for (const auto& each : all)
    for (const auto& line : comparisons_of(each.spec, each.results.value_or(Results{})))
      rows.push_back({line.reproduction,
                      line.cell,
                      line.measure,
                      line.printed,
                      line.recipe,
                      line.recipe_epsilon,
                      line.best,
                      line.best_epsilon});
  page.table({"reproduction",
              "cell",
              "measure",
              Column("printed", true),
              Column("its recipe", true),
              Column("ε it spends", true),
              Column("Sotto", true),
              Column("ε certified", true)},
             rows);
  return page.html();
}

}  // namespace sotto::study
