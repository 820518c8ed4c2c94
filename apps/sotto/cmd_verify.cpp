#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/audit/verify.hpp"
#include "sotto/audit/verify_copies.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/json.hpp"
#include "sotto/privacy/seed_mark.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

struct VerifyArguments {
  std::string path;
  std::string journal;
  std::string journal_key;
  std::string model;
  bool json = false;
};

void print(const Verification& result, bool as_json) {
  if (as_json) {
    nlohmann::json checks = nlohmann::json::array();
    for (const auto& [name, outcome, detail] : result.checks)
      checks.push_back({{"check", name}, {"outcome", to_string(outcome)}, {"detail", detail}});
    nlohmann::json prices = nlohmann::json::array();
    for (const auto& [accountant, epsilon, claimed] : result.prices)
      prices.push_back({{"name", accountant},
                        {"epsilon", std::isfinite(epsilon) ? nlohmann::json(epsilon) : nullptr},
                        {"claimed", claimed}});
    nlohmann::json object = {
        {"claimed_epsilon",
         std::isfinite(result.claimed_epsilon) ? nlohmann::json(result.claimed_epsilon) : nullptr},
        {"delta", result.delta},
        {"price", std::isfinite(result.price) ? nlohmann::json(result.price) : nullptr},
        {"accountants", prices},
        {"checks", checks},
        {"verdict", result.contradicts() ? "contradicts the claim" : "consistent"}};
    state_private(object, result.is_private, result.is_seeded);
    print_json(object);
    return;
  }
  if (result.is_private) {
    tell("{:<12} {:>12}\n", "accountant", "epsilon");
    for (const auto& [accountant, epsilon, claimed] : result.prices)
      tell("{:<12} {:>12}{}\n", accountant, text_up(epsilon), claimed ? "   (claimed)" : "");
    tell("{:<12} {:>12}   at delta {}{}\n",
         "the record",
         text_up(result.claimed_epsilon),
         text_up(result.delta),
         seed_mark(result.is_seeded));
    tell("{:<12} {:>12}   by what was promised{}\n\n",
         "its price",
         text_up(result.price),
         seed_mark(result.is_seeded));
  }
  for (const auto& [name, outcome, detail] : result.checks)
    tell("{:<14} {:<24} {}\n", to_string(outcome), name, detail);
  tell("\n{}\n",
       result.contradicts() ? "The record contradicts itself." : "The record holds together.");
}

Expected<int> run_verify(const VerifyArguments& arguments) {
  SOTTO_ASSIGN(const std::string text, read_text_file(arguments.path));
  const auto record = parse_json(text);
  if (!record)
    return fail(ErrorKind::kBadData,
                fmt::format("{} is no record: {}. Give the file that `sotto train --record` wrote.",
                            arguments.path,
                            record.error().message));
  SOTTO_ASSIGN(Verification result, verify_record(*record));
  const auto append = [&](std::vector<RecordCheck> checks) {
    for (RecordCheck& check : checks) result.checks.push_back(std::move(check));
  };
  if (!arguments.journal.empty()) {
    SOTTO_ASSIGN(const std::string key, read_journal_key(arguments.journal_key));
    SOTTO_ASSIGN(const JournalContent journal, read_whole_journal(arguments.journal, key));
    SOTTO_ASSIGN(std::vector<RecordCheck> checks, check_journal(*record, journal));
    append(std::move(checks));
  }
  if (!arguments.model.empty()) {
    SOTTO_ASSIGN(const std::string model_text, read_text_file(arguments.model, kMostModelBytes));
    const auto model = parse_json(model_text);
    if (!model)
      return fail(ErrorKind::kBadData,
                  fmt::format("{} is no model: {}.", arguments.model, model.error().message));
    append(check_model(*record, *model));
  }
  print(result, arguments.json);
  return result.contradicts() ? kAuditContradicts : kSuccess;
}

}  // namespace

Action add_verify(Verb& app) {
  auto* verb = app.add_subcommand("verify", "check a run record: price it anew and compare");
  auto a = std::make_shared<VerifyArguments>();
  verb->add_input("RECORD", a->path, "the file that `sotto train --record` wrote").required();
  verb->add_input("--journal", a->journal, "the run's journal: must tell the same run");
  verb->add_input("--journal-key", a->journal_key, "the key file that it is sealed with");
  verb->add_input("--model", a->model, "the run's model: must carry the same statement");
  verb->add_flag("--json", a->json, "print one object for machines");
  verb->footer(R"(
Prices what was promised, the plan or the filter's budget, with every accountant that applies, however early the
run stopped; checks that the plan covers what was charged, that every batch really drawn was charged for, and that
one relation is used throughout; that everything that is said twice is the same both times, and that the method
plans with the record's settings what the record says; that the command and its options are those of the claim, and
that nothing is missing; with --journal and --model that all three agree. Flags known seeds, printed training
values, and what records of version 0.1 may tell beside their claim (docs/advisories). Exit code 5 if something contradicts the claim.)");
  return [a] { return run_verify(*a); };
}

}  // namespace sotto::app
