#include "sotto/study/citations.hpp"

#include <fmt/format.h>

#include <regex>

#include "sotto/study/tables.hpp"

namespace sotto::study {
namespace {

std::string on_one_line(const std::string& text) {
  static const std::regex blanks("\\s+");
  return std::regex_replace(text, blanks, " ");
}

/// What a citation stands for; none if there is no such thing.
std::optional<std::string> cited(const Reproduced& study, const std::string& what) {
  if (!study.results) return std::nullopt;
  if (what.starts_with("slope: ")) {
    for (const auto& slope : slopes_of(study.spec, *study.results))
      if (slope.title == what.substr(7)) return slope.measured;
    return std::nullopt;
  }
  const std::size_t colon = what.rfind(": ");
  if (colon == std::string::npos) return std::nullopt;
  const std::string measure = what.substr(colon + 2);
  std::string key = what.substr(0, colon);
  const std::string recipe = ", recipe";
  const bool of_recipe = key.ends_with(recipe);
  if (of_recipe) key.resize(key.size() - recipe.size());
  const CellResult* cell = study.results->find(key);
  if (!cell) return std::nullopt;
  const auto& arm = of_recipe ? cell->recipe : cell->best;
  if (!arm || !arm->measures.contains(measure)) return std::nullopt;
  return value_text(measure, arm->measures.at(measure), arm->runs);
}

}  // namespace

Expected<std::string> with_citations(const std::string& text,
                                     const std::string& file,
                                     const std::vector<Reproduced>& all) {
  static const std::regex citation("\\[[^\\[\\]]*\\]\\(([a-z0-9-]+)\\.md\\s+\"([^\"]+)\"\\)");
  std::string result;
  auto rest = text.cbegin();
  for (std::sregex_iterator it(text.begin(), text.end(), citation), end; it != end; ++it) {
    const std::string name = (*it)[1], what = on_one_line((*it)[2]);
    const auto study = std::find_if(
        all.begin(), all.end(), [&](const auto& each) { return each.spec.name == name; });
    const auto value = study == all.end() ? std::nullopt : cited(*study, what);
    if (!value)
      return fail(
          ErrorKind::kBadData,
          fmt::format("{}: the study {} has no \"{}\". Write CELL: MEASURE as in its .json, or "
                      "slope: TITLE.",
                      file,
                      name,
                      what));
    const std::string whole = it->str();
    result.append(rest, (*it)[0].first);
    result += "[" + *value + whole.substr(whole.find("]("));
    rest = (*it)[0].second;
  }
  return result.append(rest, text.cend());
}

}  // namespace sotto::study
