#include "sotto/audit/score_file.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "sotto/core/file.hpp"
#include "sotto/core/json.hpp"

namespace sotto {

Expected<void> save_scores(const std::string& path,
                           const std::string& audit,
                           const Scores& scores) {
  // JSON has no NaN (a run that failed): it is written as null.
  const nlohmann::json json = {{"sotto_audit", 1},
                               {"audit", audit},
                               {"world0", scores.world[0]},
                               {"world1", scores.world[1]}};
  return write_file_atomically(path, json_text(json) + "\n");
}

Expected<Scores> load_scores(const std::string& path, const std::string& audit) {
  Scores scores;
  SOTTO_ASSIGN(const bool there, file_exists(path));
  if (!there) return scores;
  SOTTO_ASSIGN(const std::string text, read_text_file(path));
  const auto refuse = [&](std::string_view what) {
    return fail(
        ErrorKind::kBadData,
        fmt::format("{}: {} Give another file to ‘resume’, or delete this one.", path, what));
  };
  const nlohmann::json json = json_or_discarded(text);
  if (!json.is_object() || json_integer(json, "sotto_audit", 0) != 1)
    return refuse("this is not a file of audit scores.");
  if (json_string(json, "audit") != audit)
    return refuse("it holds the scores of an audit with other settings.");
  for (int world = 0; world < 2; ++world) {
    const auto found = json.find(world == 0 ? "world0" : "world1");
    if (found == json.end() || !found->is_array()) return refuse("the scores are missing.");
    for (const auto& score : *found) {
      if (!score.is_number() && !score.is_null()) return refuse("a score is not a number.");
      scores.world[world].push_back(score.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                                    : score.get<double>());
    }
  }
  if (scores.world[0].size() != scores.world[1].size())
    return refuse("the worlds have different numbers of runs.");
  return scores;
}

}  // namespace sotto
