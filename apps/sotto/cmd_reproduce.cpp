#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "exit_codes.hpp"
#include "plot_file.hpp"
#include "printer.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/file_kind.hpp"
#include "sotto/core/json.hpp"
#include "sotto/core/nearest.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/core/stop.hpp"
#include "sotto/study/citations.hpp"
#include "sotto/study/data_sets.hpp"
#include "sotto/study/document.hpp"
#include "sotto/study/runner.hpp"
#include "sotto/study/tables.hpp"
#include "sotto/study/verdict.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

namespace fs = std::filesystem;
using study::Reproduced;
using study::Results;
using study::StudySpec;

struct ReproduceArguments {
  std::vector<std::string> names;
  bool quick = false;
  int runs = 0;
  std::string only;
  bool resume = false;
  std::string out = "reproduced";
  std::vector<std::string> data;
  std::string specs;
  std::string render;
  int threads = 0;
  bool quiet = false;
};

std::string program_path() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).string();
}

/// Without paths: those are of this machine.
std::string command_of(const std::string& name, const ReproduceArguments& arguments) {
  std::string command = "sotto reproduce " + name;
  if (arguments.quick) command += " --quick";
  if (arguments.runs > 0) command += fmt::format(" --runs {}", arguments.runs);
  return command;
}

/// The results that are in the folder already; none where there is no file.
Expected<std::vector<Reproduced>> collected(const std::vector<StudySpec>& specs,
                                            const std::string& folder) {
  std::vector<Reproduced> all;
  for (const auto& spec : specs) {
    Reproduced each{spec, std::nullopt};
    const std::string path = fmt::format("{}/{}.json", folder, spec.name);
    SOTTO_ASSIGN(const bool there, file_exists(path));
    if (there) {
      SOTTO_ASSIGN(const std::string text, read_text_file(path, kMostTextBytes, Source::kRegular));
      SOTTO_ASSIGN(each.results, study::results_from_json(text, path));
    }
    all.push_back(std::move(each));
  }
  return all;
}

/// The claims that a reproduction's cells decide, with what all results say of them.
std::vector<study::ClaimLine> claims_about(const std::vector<study::PaperSpec>& papers,
                                           const std::vector<Reproduced>& all,
                                           const StudySpec& spec) {
  for (const auto& paper : papers)
    if (paper.key == spec.paper) return study::claim_lines(paper, all, spec.name);
  return {};
}

/// Documents from results that are there: FOLDER/NAME.md with FOLDER/NAME.svg, and the index
/// FOLDER/reproductions.md. Pages of prose in the folder get the numbers that they cite.
Expected<int> render(const std::string& specs_folder, std::string folder) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  SOTTO_ASSIGN(const auto papers, study::load_papers(specs_folder));
  SOTTO_ASSIGN(const auto specs, study::load_specs(specs_folder));
  SOTTO_TRY(study::check_claims(papers, specs));
  SOTTO_ASSIGN(const auto all, collected(specs, folder));
  int made = 0;
  const auto plots = check_plot(folder + "/any.svg");
  if (!plots) say("no plots are drawn: {}\n", plots.error().message);
  for (const auto& each : all) {
    if (!each.results) continue;
    if (const auto charts = study::charts_of(each.spec, *each.results); plots && !charts.empty())
      SOTTO_TRY(write_plot(charts, fmt::format("{}/{}.svg", folder, each.spec.name)));
    SOTTO_TRY(write_file_atomically(
        fmt::format("{}/{}.md", folder, each.spec.name),
        study::markdown_of(each.spec, *each.results, claims_about(papers, all, each.spec))));
    ++made;
  }
  SOTTO_TRY(
      write_file_atomically(folder + "/reproductions.md", study::markdown_index(papers, all)));
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".md") continue;
    SOTTO_ASSIGN(const std::string before,
                 read_text_file(entry.path(), kMostTextBytes, Source::kRegular));
    SOTTO_ASSIGN(const std::string after,
                 study::with_citations(before, entry.path().string(), all));
    if (after != before) SOTTO_TRY(write_file_atomically(entry.path(), after));
  }
  tell("{} documents and their index, reproductions.md, written to {}\n", made, folder);
  return kSuccess;
}

void print_list(const std::vector<StudySpec>& specs) {
  for (const auto& spec : specs)
    tell("{:<22} {:<10} {:<12} {:>3} cells  {}\n",
         spec.name,
         spec.paper,
         spec.shows,
         spec.cells.size(),
         spec.title);
}

Expected<std::vector<const StudySpec*>> chosen(const std::vector<StudySpec>& specs,
                                               const std::vector<std::string>& names) {
  std::vector<const StudySpec*> result;
  for (const auto& name : names) {
    const std::size_t before = result.size();
    for (const auto& spec : specs)
      if (name == "all" || spec.name == name) result.push_back(&spec);
    if (result.size() > before) continue;
    std::vector<std::string> known;
    for (const auto& spec : specs) known.push_back(spec.name);
    return fail(ErrorKind::kUsage,
                fmt::format("there is no reproduction '{}'.{} `sotto reproduce list` names them.",
                            name,
                            did_you_mean(name, known)));
  }
  return result;
}

Expected<Results> run_one(const StudySpec& spec,
                          const ReproduceArguments& arguments,
                          const std::string& specs_folder) {
  const std::string base = fmt::format("{}/{}", arguments.out, spec.name);
  study::RunOptions options;
  options.quick = arguments.quick;
  options.runs = arguments.runs;
  options.only = arguments.only;
  options.specs_folder = specs_folder;
  options.data_folders = study::find_data(arguments.data, specs_folder);
  options.keep = arguments.out;
  options.finished = base + ".cells.jsonl";
  options.command = command_of(spec.name, arguments);
  if (!arguments.resume) SOTTO_TRY(remove_file(options.finished));
  const bool shows = !arguments.quiet && ::isatty(STDERR_FILENO) == 1;
  options.progress = [&](const std::string& text) {
    if (shows) {
      say_to_terminal(fmt::format("\r{} \x1b[K", on_one_line(text)));
    }
    return !stop_requested();
  };
  const auto begin = std::chrono::steady_clock::now();
  auto results = study::run(spec, options);
  if (shows) say_to_terminal("\r\x1b[K");
  if (!results) return results;
  SOTTO_TRY(write_file_atomically(base + ".json", json_text(to_json(*results), 1) + "\n"));
  SOTTO_TRY(write_file_atomically(base + ".csv", study::to_csv(spec, *results)));
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  int missing = 0;
  for (const auto& cell : results->cells)
    missing += (cell.recipe && !cell.recipe->missing.empty()) ||
               (cell.best && !cell.best->missing.empty());
  tell("{}: {} cells in {:.1f} s{}, {}.html\n",
       spec.name,
       results->cells.size(),
       took,
       missing > 0 ? fmt::format(" ({} could not be run: see the page)", missing) : "",
       base);
  std::fflush(stdout);
  return results;
}

/// Refuses to write over files that no reproduction made. Its results name what they reproduce;
/// the rest is made from them.
Expected<void> check_is_ours(const std::string& folder,
                             const std::vector<const StudySpec*>& specs) {
  const auto made_here = [&](const std::string& base) {
    const auto results = read_text_file(base + ".json", kMostTextBytes, Source::kRegular);
    return results && results->find("\"reproduction\"") != results->npos;
  };
  for (const StudySpec* spec : specs) {
    const std::string base = fmt::format("{}/{}", folder, spec->name);
    SOTTO_ASSIGN(const bool begun, file_exists(base + ".cells.jsonl"));
    SOTTO_ASSIGN(const FileKind cells, kind_at(base + ".cells.jsonl"));
    if (begun && cells == FileKind::kOther) continue;
    for (const char* suffix : {".json", ".csv", ".html", ".cells.jsonl"}) {
      SOTTO_ASSIGN(const bool there, file_exists(base + suffix));
      if (there && !made_here(base))
        return fail(ErrorKind::kUsage,
                    fmt::format("{}{} is there, and no reproduction made it: it would be replaced. "
                                "Give --out a folder of its own.",
                                base,
                                suffix));
    }
  }
  return {};
}

Expected<int> run_reproduce(const ReproduceArguments& arguments) {
  set_thread_count(arguments.threads);
  SOTTO_ASSIGN(const std::string folder, study::find_specs(arguments.specs, program_path()));
  if (!arguments.render.empty()) return render(folder, arguments.render);
  SOTTO_ASSIGN(const auto specs, study::load_specs(folder));
  if (arguments.names.empty() || arguments.names.front() == "list" ||
      arguments.names.front() == "LIST") {
    print_list(specs);
    return kSuccess;
  }
  if (arguments.runs < 0 || arguments.runs > 100'000)
    return fail(ErrorKind::kUsage,
                fmt::format("--runs must lie between 1 and 100,000, but is {}.", arguments.runs));
  SOTTO_ASSIGN(const auto wanted, chosen(specs, arguments.names));
  std::error_code error;
  fs::create_directories(arguments.out, error);
  if (error)
    return fail(ErrorKind::kIo,
                fmt::format("can't make the folder {}: {}.", arguments.out, error.message()));
  SOTTO_TRY(check_is_ours(arguments.out, wanted));
  SOTTO_ASSIGN(const auto papers, study::load_papers(folder));
  SOTTO_TRY(study::check_claims(papers, specs));
  for (const StudySpec* spec : wanted) {
    const auto results = run_one(*spec, arguments, folder);
    if (results) {
      SOTTO_ASSIGN(const auto so_far, collected(specs, arguments.out));
      SOTTO_TRY(write_file_atomically(
          fmt::format("{}/{}.html", arguments.out, spec->name),
          study::page_of(*spec, *results, claims_about(papers, so_far, *spec))));
      continue;
    }
    if (!stop_requested()) return tl::unexpected<Error>(results.error());
    say_error(results.error());
    return kInterrupted;
  }
  SOTTO_ASSIGN(const auto all, collected(specs, arguments.out));
  SOTTO_TRY(write_file_atomically(arguments.out + "/index.html", study::page_index(papers, all)));
  tell("index: {}/index.html\n", arguments.out);
  return kSuccess;
}

}  // namespace

Action add_reproduce(Verb& app) {
  auto* verb = app.add_subcommand("reproduce", "make tables and figures of the papers again");
  auto a = std::make_shared<ReproduceArguments>();
  verb->add_words("NAME", a->names, "reproductions, `all`, or `list`");
  verb->add_flag("--quick", a->quick, "fewer cells, rows and runs: each under two minutes");
  verb->add_option("--runs", a->runs, "runs per cell, instead of what the reproduction says");
  verb->add_word(
      "--only",
      a->only,
      "run only cells whose key has this text in it, e.g. \"cifar10 / epsilon 0.8\" or \"x 60 "
      "recipe\"; the page's others are from earlier runs (--resume) or marked as not run");
  verb->add_flag("--resume", a->resume, "keep the finished cells of an earlier run");
  verb->add_folder("--out", a->out, "folder for results (JSON, CSV) and pages").show_default();
  verb->add_folders(
      "--data", a->data, "folder with the public data sets; may be given more than once");
  verb->add_folder("--specs", a->specs, "folder with the reproductions' files");
  verb->add_folder(
      "--render", a->render, "write Markdown from the results in this folder, and run nothing");
  verb->add_option("--threads", a->threads, "0: all cores").show_default().range(0, 1024);
  verb->add_flag("-q,--quiet", a->quiet, "no progress");
  verb->footer(R"(
For every cell of a published table or figure: what the paper printed, the paper's own recipe with the epsilon
that its noise really spends, and Sotto's method at the stated epsilon, certified. Public data only: the pages
show true values.

  sotto reproduce list
  sotto reproduce srm-table2 --out results
  sotto reproduce all --quick)");
  return [a] { return run_reproduce(*a); };
}

}  // namespace sotto::app
