#include "data_fetch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/data/fetch/fetch.hpp"

namespace sotto::app {
namespace {

struct FetchArguments {
  std::string name;
  std::string out;
  std::string mirror;
  bool json = false;
  bool quiet = false;
};

std::string size_text(std::int64_t bytes) {
  if (bytes == 0) return "";
  return bytes < 1'000'000 ? fmt::format("{} kB", (bytes + 999) / 1000)
                           : fmt::format("{} MB", (bytes + 500'000) / 1'000'000);
}

/// What there is to fetch; sizes are those of the kept files.
void list() {
  for (const auto& set : data_sets()) {
    std::int64_t bytes = 0;
    for (const auto& file : set.files)
      for (const auto& kept : file.kept) bytes += kept.bytes;
    tell("{:<10} {:>7}  {}\n", set.name, size_text(bytes), set.title);
  }
}

Expected<int> run(const FetchArguments& arguments) {
  if (arguments.name.empty()) {
    list();
    return kSuccess;
  }
  SOTTO_ASSIGN(const DataSet* set, find_data_set(arguments.name));
  FetchOptions options;
  options.folder = arguments.out.empty() ? set->name : arguments.out;
  options.mirror = arguments.mirror;
  options.progress = !arguments.quiet && !arguments.json && ::isatty(STDERR_FILENO) == 1;
  SOTTO_ASSIGN(const auto files, fetch(*set, options, [&](const FetchedFile& file) {
                 if (!arguments.json)
                   tell("{}: {} bytes, {}\n",
                        file.path,
                        file.bytes,
                        file.was_there ? "there already, checked" : "fetched, checked");
               }));
  if (arguments.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& file : files)
      list.push_back({{"path", file.path}, {"bytes", file.bytes}, {"was_there", file.was_there}});
    print_json(nlohmann::json{{"name", set->name}, {"files", list}});
  } else if (!set->use.empty() && !arguments.quiet) {
    say("for example: {}\n", fmt::format(fmt::runtime(set->use), options.folder));
  }
  return kSuccess;
}

}  // namespace

Action add_data_fetch(Verb& data_verb) {
  auto* verb = data_verb.add_subcommand(
      "fetch", "download a public data set from its official place, checked by SHA-256");
  auto arguments = std::make_shared<FetchArguments>();
  verb->add_word("NAME",
                 arguments->name,
                 "mnist, cifar10, cifar100, a9a, ijcnn1, adult, covertype or wdbc; without it: "
                 "list them");
  std::vector<std::string> names;
  for (const DataSet& set : data_sets()) names.push_back(set.name);
  verb->offer("NAME", std::move(names));
  verb->add_folder("--out", arguments->out, "folder for the files; default: the data set's name");
  verb->add_folder("--mirror",
                   arguments->mirror,
                   "a folder, or an http(s) address, with the files under their official names");
  verb->add_flag("--json", arguments->json, "one object for machines");
  verb->add_flag("-q,--quiet", arguments->quiet, "no progress and no example");
  verb->footer(
      "\nFiles get their name only when they are complete and right; an interrupted download is "
      "resumed\n"
      "where it ended. What is there already is checked and not fetched again.\n\n"
      "  sotto data fetch a9a --out data");
  return [arguments] { return run(*arguments); };
}

}  // namespace sotto::app
