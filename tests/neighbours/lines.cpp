#include "tests/neighbours/lines.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <iterator>
#include <set>
#include <tuple>

namespace sotto::testing {
namespace {

constexpr std::array<Relation, 3> kRelations = {
    Relation::kZeroOut, Relation::kReplaceOne, Relation::kAddRemove};

/// Short, and so noisy that the price is computed quickly.
MethodLine planned(const std::string& name, const std::string& method, const Words& more) {
  return {name, method, "--noise-multiplier 2" + more};
}

/// Methods that a filter ends; a loss with curvature of both signs, so that Hessians are asked for.
MethodLine filtered(const std::string& name, const std::string& method, const Words& more) {
  return {name,
          method,
          "--epsilon 12 --loss sigmoid --gradient-tolerance 0.2 --curvature-tolerance 0.5 "
          "--curvature-floor off --hessian-lipschitz 1 --init normal --precision 3 --steps 4" +
              more};
}

const MethodInfo& info(const MethodLine& line) { return **find_method(line.method); }

}  // namespace

const std::vector<MethodLine>& method_lines() {
  static const std::vector<MethodLine> lines = {
      planned("dp-gd", "dp-gd", {"--steps 4"}),
      planned("dp-gd best", "dp-gd", {"--steps 12 --output best --candidates 3"}),
      planned("dp-gd glm", "dp-gd", {"--steps 4 --clip-rule glm"}),
      // Of a label that does not fit no weight may be left.
      planned("dp-gd weighted glm",
              "dp-gd",
              {"--steps 4 --clip-rule glm --class-weight positive=4,negative=0.5"}),
      planned("dp-newton weighted", "dp-newton", {"--steps 3 --class-weight positive=4"}),
      planned("dp-sgd", "dp-sgd", {"--steps 4 --expected-batch 6"}),
      planned("dp-sgd quantile", "dp-sgd", {"--steps 4 --expected-batch 6 --clip-quantile 0.5"}),
      planned("dp-sgd fixed", "dp-sgd", {"--steps 4 --expected-batch 6 --sampling fixed_size"}),
      planned("rrpsgd", "rrpsgd", {"--steps 8 --expected-batch 6 --drawn-steps 5"}),
      planned("rrpsgd fixed",
              "rrpsgd",
              {"--steps 8 --expected-batch 6 --drawn-steps 5 --sampling fixed_size"}),
      planned("dp-srm", "dp-srm", {"--steps 4 --expected-batch 6 --json"}),
      planned("dp-srm fixed", "dp-srm", {"--steps 4 --expected-batch 6 --sampling fixed_size"}),
      planned(
          "private-spiderboost", "private-spiderboost", {"--steps 5 --phase 2 --expected-batch 6"}),
      planned("private-spiderboost fixed",
              "private-spiderboost",
              {"--steps 5 --phase 2 --expected-batch 6 --anchor-batch 8 --sampling fixed_size"}),
      {"dp-agd", "dp-agd", {"--epsilon 1 --splits 4 --candidates 3"}},
      planned("adp-sgd", "adp-sgd", {"--steps 6 --groups 2 --expected-batch 6"}),
      // Steps that follow the answers: only what was released may decide them.
      planned("adp-sgd adagrad",
              "adp-sgd",
              {"--steps 6 --groups 2 --expected-batch 6 --step-rule adagrad --beta 512 "
               "--beta-period 3"}),
      planned("adp-sgd fixed",
              "adp-sgd",
              {"--steps 6 --groups 2 --expected-batch 6 --sampling fixed_size"}),
      {"adp-sgd adaptive",
       "adp-sgd",
       {"--epsilon 3 --noise adaptive --steps 6 --expected-batch 6"}},
      filtered("dp-tr", "dp-tr", {}),
      filtered("dp-tr lanczos", "dp-tr", {"--solver lanczos --products 3"}),
      filtered("dp-tr-b", "dp-tr-b", {"--expected-batch 6"}),
      filtered("dp-str", "dp-str", {"--expected-batch 12"}),
      filtered("dp-str fixed", "dp-str", {"--expected-batch 12 --sampling fixed_size"}),
      filtered("opt", "opt", {}),
      filtered("opt lanczos", "opt", {"--solver lanczos"}),
      filtered("opt-b", "opt-b", {"--expected-batch 6"}),
      filtered("opt-b lanczos", "opt-b", {"--expected-batch 6 --solver lanczos"}),
      filtered("opt-ls", "opt-ls", {"--candidates 3"}),
      filtered("opt-ls sparse vector", "opt-ls", {"--longest-step 3 --line-search sparse_vector"}),
      filtered("2opt", "2opt", {}),
      filtered("2opt-b", "2opt-b", {"--expected-batch 6"}),
      filtered("2opt-ls", "2opt-ls", {"--candidates 3"}),
      filtered("dp-gd-sosp", "dp-gd-sosp", {}),
      planned("dp-newton", "dp-newton", {"--steps 3"}),
      planned("dp-pgd", "dp-pgd", {"--steps 4 --constraint l2:1"}),
      // The gap of rows that are bounded by their norm, and by their entries.
      planned(
          "dp-pgd certificate", "dp-pgd", {"--steps 4 --constraint l2:1 --certificate-share 0.2"}),
      planned("dp-pgd certificate by entries",
              "dp-pgd",
              {"--steps 4 --constraint l1:1 --row-max 0.1 --certificate-share 0.2"}),
      planned("dp-pmd", "dp-pmd", {"--steps 4 --constraint l1:1"}),
      planned("dp-fw-l2", "dp-fw-l2", {"--steps 4 --constraint l2:1"}),
      planned("dp-fw-l1", "dp-fw-l1", {"--steps 4 --constraint l1:1 --selection exponential"}),
      planned("dp-fw-l1 certificate",
              "dp-fw-l1",
              {"--steps 4 --constraint l1:1 --selection exponential --certificate-share 0.2"}),
      planned(
          "dp-fw-l1 noisy max", "dp-fw-l1", {"--steps 4 --constraint l1:1 --selection noisy_max"}),
      planned("auto", "auto", {"--most-passes 8"}),
  };
  return lines;
}

std::string to_string(const Line& line) {
  return fmt::format("{} / {} / {} / {}",
                     line.method->name,
                     line.table->name,
                     to_string(line.relation),
                     to_string(line.unit));
}

std::string impossible(const MethodLine& method, const TableKind& table) {
  for (const std::string& word : method.arguments)
    if ((word == "glm" || word == "--certificate-share") &&
        (table.network || table.name.starts_with("persons")))
      return "a rule of linear models with one row in a unit";
  for (const std::string& word : method.arguments)
    if (word == "--class-weight" && (table.network || table.has_loss()))
      return "names for two classes, where there are ten or numbers";
  if (!table.network) return "";
  if (info(method).needs.has(Capability::kHessians)) return "networks have no Hessians";
  if (info(method).constraints) return "networks are not kept in a set";
  return "";
}

bool makes_sense(const Line& line) {
  if (!impossible(*line.method, *line.table).empty()) return false;
  const Unit other = partner(line.relation);
  if (line.unit == Unit::kAbsent || line.unit == other) return false;
  for (const std::string& word : line.method->arguments)  // the number of units is public for it
    if (word == "fixed_size" && line.relation == Relation::kAddRemove) return false;
  return line.table->files(line.unit).has_value() && line.table->files(other).has_value();
}

std::vector<Line> all_lines() {
  std::vector<Line> lines;
  for (const MethodLine& method : method_lines())
    for (const TableKind& table : table_kinds())
      for (const Relation relation : kRelations)
        for (int k = 0; k < kUnits; ++k) {
          const Line line{&method, &table, relation, static_cast<Unit>(k)};
          if (makes_sense(line)) lines.push_back(line);
        }
  return lines;
}

std::vector<Line> covering_lines() {
  // Greedy: of all lines the one with most pairs that no line had yet, until there are none.
  // Whoever has a world A already costs one run instead of two, which breaks ties.
  using PairKey = std::tuple<int, const void*, const void*, int, int>;
  const auto pairs_of = [](const Line& line) {
    const auto relation = static_cast<int>(line.relation);
    const auto unit = static_cast<int>(line.unit);
    return std::array<PairKey, 6>{{{0, line.method, line.table, 0, 0},
                                   {1, line.method, nullptr, relation, 0},
                                   {2, line.method, nullptr, unit, 0},
                                   {3, nullptr, line.table, relation, 0},
                                   {4, nullptr, line.table, unit, 0},
                                   {5, nullptr, nullptr, relation, unit}}};
  };
  const std::vector<Line> all = all_lines();
  std::set<PairKey> open;
  for (const Line& line : all)
    for (const PairKey& pair : pairs_of(line)) open.insert(pair);
  std::set<std::tuple<const void*, const void*, int>> worlds;
  std::set<std::size_t> chosen;
  while (!open.empty()) {
    std::size_t best = 0;
    int most = -1;
    for (std::size_t k = 0; k < all.size(); ++k) {
      int gain = 0;
      for (const PairKey& pair : pairs_of(all[k])) gain += 2 * static_cast<int>(open.count(pair));
      if (gain == 0) continue;
      gain += static_cast<int>(
          worlds.count({all[k].method, all[k].table, static_cast<int>(all[k].relation)}));
      if (gain > most) {
        most = gain;
        best = k;
      }
    }
    for (const PairKey& pair : pairs_of(all[best])) open.erase(pair);
    worlds.insert({all[best].method, all[best].table, static_cast<int>(all[best].relation)});
    chosen.insert(best);
  }
  std::vector<Line> lines;
  for (const std::size_t k : chosen) lines.push_back(all[k]);
  return lines;
}

Words command(const Line& line, bool checkpoints) {
  Words words = {"train --method",
                 line.method->method,
                 "--delta 1e-5 --seed 7 --threads 1 --neighbours",
                 std::string(to_string(line.relation)),
                 "--record run.json --report run.html"};
  if (line.relation == Relation::kAddRemove) words += {"--public-n", std::to_string(kTableUnits)};
  if (checkpoints)
    // Few of the many steps that auto makes.
    words += {"--checkpoint run.ckpt --every", line.method->name == "auto" ? "60" : "1"};
  words.push_back("--no-refusals");
  words += line.table->arguments;
  words += line.table->training;
  const Words& own = line.method->arguments;
  for (std::size_t k = 0; k < own.size(); ++k)
    if (own[k] == "--loss" && line.table->has_loss())
      ++k;
    else
      words.push_back(own[k]);
  words += {line.table->data, "model.json"};
  return words;
}

std::vector<std::string> failing(const std::vector<Line>& lines, const RunOptions& options) {
  std::vector<std::string> texts;
  World a;
  const Line* last = nullptr;
  for (const Line& line : lines) {
    const Program program = sotto_program(command(line));
    if (!last || last->method != line.method || last->table != line.table ||
        last->relation != line.relation) {
      a = run_world(*line.table->files(partner(line.relation)), program, nullptr, options);
      last = &line;
    }
    const World b = run_world(*line.table->files(line.unit), program, &a, options);
    std::vector<std::string> found = differences(a, b);
    const int expected = options.interrupt_after ? 130 : 0;
    if (a.exit_code != expected)
      found.insert(found.begin(),
                   fmt::format("world A ended with {}: {}", a.exit_code, a.artifacts["stderr"]));
    if (found.empty()) continue;
    std::string text = to_string(line);
    for (const std::string& difference : found) text += "\n  " + difference;
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> line_names() {
  std::vector<std::string> names;
  for (const MethodLine& line : method_lines()) names.push_back(line.name);
  return names;
}

void expect_the_same(std::vector<Line> lines, const std::string& name) {
  std::erase_if(lines, [&](const Line& line) { return line.method->name != name; });
  ASSERT_FALSE(lines.empty());
  for (const std::string& text : failing(lines)) ADD_FAILURE() << text;
}

}  // namespace sotto::testing
