#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/json.hpp"
#include "sotto/data/synthetic.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

constexpr std::int64_t kTrainRows = 20'000;
constexpr std::int64_t kTestRows = 10'000;
constexpr std::uint64_t kSeed = 1;

/// Shows the command, then really runs it.
Expected<void> run_shown(const std::vector<std::string>& arguments) {
  tell("\n$ sotto {}\n", fmt::format("{}", fmt::join(arguments, " ")));
  std::fflush(stdout);
  if (const int code = run_command_line(arguments); code != kSuccess)
    return fail(ErrorKind::kNoModel,
                fmt::format("the command above failed with exit code {}.", code));
  return {};
}

Expected<nlohmann::json> read_record(const std::string& path) {
  SOTTO_ASSIGN(const std::string text, read_text_file(path));
  return parse_json(text);
}

/// A folder that holds other rows under the demo's names is somebody's: its schema is not the one
/// that a demo writes.
Expected<void> check_is_demo(const std::string& folder) {
  for (const char* name : {"train.csv", "test.csv", "census.toml"}) {
    SOTTO_ASSIGN(const bool there, file_exists(folder + "/" + name));
    if (!there) continue;
    const auto schema = read_text_file(folder + "/census.toml");
    if (schema && *schema == census_schema()) return {};
    return fail(
        ErrorKind::kUsage,
        fmt::format("{}/{} is there, and not from a demo: it would be replaced. Give --out a "
                    "new folder.",
                    folder,
                    name));
  }
  return {};
}

Expected<int> demo(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fail(ErrorKind::kIo,
                fmt::format("can't make the folder {}: {}.", folder, error.message()));
  const auto file = [&](const char* name) { return folder + "/" + name; };

  SOTTO_TRY(check_is_demo(folder));

  tell("Making a census-like data set: {} private rows, {} public ones for testing.\n",
       kTrainRows,
       kTestRows);
  SOTTO_TRY(write_census_csv(file("train.csv"), kTrainRows, kSeed, 0));
  SOTTO_TRY(write_census_csv(file("test.csv"), kTestRows, kSeed, 1));
  SOTTO_TRY(write_file_atomically(file("census.toml"), census_schema()));

  const std::vector<std::string> common = {
      "--schema", file("census.toml"), "--test", file("test.csv")};
  std::vector<std::string> private_run = {"train", "--epsilon", "1", "--delta", "1e-6"};
  std::vector<std::string> reference = {"train", "--method", "gd", "--quiet"};
  for (auto* run : {&private_run, &reference})
    run->insert(run->end(), common.begin(), common.end());
  private_run.insert(private_run.end(),
                     {"--record",
                      file("private.run.json"),
                      "--report",
                      file("private.html"),
                      file("train.csv"),
                      file("private.json")});
  reference.insert(
      reference.end(),
      {"--record", file("reference.run.json"), file("train.csv"), file("reference.json")});
  // The rows are made up: what was spent on them before protects nobody.
  SOTTO_ASSIGN(const bool was_paid, file_exists(file("private.json.journal")));
  SOTTO_ASSIGN(const bool was_made, file_exists(file("reference.json")));
  if (was_paid) private_run.insert(private_run.begin() + 1, "--again");
  if (was_made) reference.insert(reference.begin() + 1, "--overwrite");
  SOTTO_TRY(run_shown(private_run));
  SOTTO_TRY(run_shown(reference));

  SOTTO_ASSIGN(const nlohmann::json ours, read_record(file("private.run.json")));
  SOTTO_ASSIGN(const nlohmann::json theirs, read_record(file("reference.run.json")));
  tell("\n{:<28} {:>10} {:>8} {:>14}\n", "", "accuracy", "AUC", "epsilon");
  tell("{:<28} {:>9.2f}% {:>8.4f} {:>14.4f}\n",
       "private (dp-gd)",
       100 * ours["test"]["accuracy"].get<double>(),
       ours["test"]["auc"].get<double>(),
       ours["epsilon_spent"].get<double>());
  tell("{:<28} {:>9.2f}% {:>8.4f} {:>14}\n",
       "not private (gd)",
       100 * theirs["test"]["accuracy"].get<double>(),
       theirs["test"]["auc"].get<double>(),
       "no guarantee");
  tell(
      "\nWhat to try next:\n"
      "  open {} in a browser: the run's report, for your privacy officer\n"
      "  sotto train --epsilon 0.1 ...       less budget: watch the accuracy fall\n"
      "  sotto predict {} {} predictions.csv\n"
      "  sotto account --journal {}          what the journal says was spent\n"
      "  sotto train --epsilon 1 --delta 1e-6 --schema YOUR.toml YOUR.csv model.json\n"
      "  {} shows how columns and their public bounds are declared.\n",
      file("private.html"),
      file("test.csv"),
      file("private.json"),
      file("private.json.journal"),
      file("census.toml"));
  return kSuccess;
}

}  // namespace

Action add_demo(Verb& app) {
  auto* verb = app.add_subcommand("demo", "train a private model on data that Sotto makes itself");
  auto folder = std::make_shared<std::string>("sotto-demo");
  verb->add_folder("--out", *folder, "folder for the data and models").show_default();
  verb->footer(R"(
Makes 30,000 census-like rows, trains on them with and without privacy, and compares. Nobody's data is touched,
and nothing leaves the folder. A second time it makes all of it again.

  sotto demo --out my-demo)");
  return [folder] { return demo(*folder); };
}

}  // namespace sotto::app
