#include "sotto/privacy/journal_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace sotto {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 53;

tl::unexpected<Error> no(const std::string& why) { return fail(ErrorKind::kBadData, why); }

Expected<std::int64_t> count_in(const nlohmann::json& line, const char* name, std::int64_t least) {
  const nlohmann::json& count = line.at(name);
  if (!count.is_number_integer() || count < least || count > kMost)
    return no(fmt::format("its '{}' is out of range", name));
  return count.get<std::int64_t>();
}

void read_diagnostics(const nlohmann::json& line, JournalRun& run) {
  if (line.contains("unsafe_diagnostics"))
    run.unsafe_diagnostics = line["unsafe_diagnostics"].get<bool>();
}

/// How many of them a plan has; its terms are in order.
std::int64_t planned(const CanonicalEvent& plan, const Term& term) {
  const auto found = std::lower_bound(plan.terms.begin(), plan.terms.end(), term, TermOrder());
  return found == plan.terms.end() || TermOrder()(term, *found) ? 0 : found->count;
}

}  // namespace

tl::unexpected<Error> refused_line(const std::string& where, const std::string& why) {
  return fail(ErrorKind::kBadData,
              fmt::format("{}: {}. Nobody can tell what was spent from a journal that lost "
                          "something: put back a copy from before it was damaged "
                          "(docs/reference/journal.md).",
                          where,
                          why));
}

Expected<void> RunReader::add(const nlohmann::json& line, const std::string& where) {
  try {
    if (auto added = add_to_run(line, where); !added)
      return refused_line(where, added.error().message);
    return {};
  } catch (const nlohmann::json::exception&) {
    return refused_line(where, "it is not a line of a Sotto journal");
  }
}

Expected<void> RunReader::add_to_run(const nlohmann::json& line, const std::string& where) {
  if (!line.is_object()) return no("it is not a line of a Sotto journal");
  if (line.contains("open")) return open(line, where);
  if (line.contains("resume")) return resume(line);
  if (!current_) return no("it comes before any opening line");
  if (runs_[*current_].closed) return no("its run has ended");
  if (!line.contains("run") && !runs_[*current_].states_no_rule)
    return no("it does not say to which run it belongs");
  if (line.contains("run") && line["run"].get<std::string>() != runs_[*current_].name)
    return no("it belongs to another run than the line before it");
  return line.contains("close") ? close(line) : charge(line);
}

std::vector<JournalRun> RunReader::take() {
  for (std::size_t k = 0; k < runs_.size(); ++k)
    if (runs_[k].states_no_rule)
      runs_[k].promise.samples =
          std::max(runs_[k].samples, tallies_[k].planned * tallies_[k].most_samples);
  return std::move(runs_);
}

Expected<void> RunReader::open(const nlohmann::json& line, const std::string& where) {
  JournalRun run;
  run.where = where;
  run.name = line.value("run", "");
  if (!run.name.empty() && !by_name_.emplace(run.name, runs_.size()).second)
    return no("its run was opened before");
  run.method = line.at("method").get<std::string>();
  if (line.contains("units")) {
    SOTTO_ASSIGN(run.units, count_in(line, "units", 0));
  }
  run.seeded = line.value("seeded", false);
  run.unit = line.value("unit", "");
  read_diagnostics(line, run);
  Promise& promise = run.promise;
  if (const auto& epsilon = line.at("epsilon"); !epsilon.is_null()) {
    promise.budget.epsilon = epsilon.get<double>();
    if (!(std::isfinite(promise.budget.epsilon) && promise.budget.epsilon > 0))
      return no("its 'epsilon' is out of range");
  }
  promise.budget.delta = line.at("delta").get<double>();
  if (!(promise.budget.delta >= 0 && promise.budget.delta < 1))
    return no("its 'delta' is out of range");
  if (line.contains("accountant")) {
    SOTTO_ASSIGN(promise.limit_by, find_accountant(line["accountant"].get<std::string>()));
  }
  SOTTO_ASSIGN(run.relation, parse_relation(line.at("neighbours").get<std::string>()));
  const auto plan = line.at("plan").get<std::string>();
  constexpr std::string_view kFilterOf = "filter ";
  promise.rule = plan.starts_with(kFilterOf) ? PriceRule::kFilter : PriceRule::kPlan;
  if (promise.rule == PriceRule::kFilter) {
    SOTTO_ASSIGN(const Accountant* filter, find_accountant(plan.substr(kFilterOf.size())));
    if (promise.limit_by && promise.limit_by != filter)
      return no("its accountant is not that of its filter");
    promise.limit_by = filter;
  }
  run.states_no_rule = !line.contains("rule");
  promise.states_samples = !run.states_no_rule;
  if (!run.states_no_rule) {
    SOTTO_ASSIGN(const PriceRule rule, parse_price_rule(line["rule"].get<std::string>()));
    if (rule != promise.rule) return no("its rule is not that of its plan");
    SOTTO_ASSIGN(promise.samples, count_in(line, "samples", 0));
  }
  promise.plan.relation = run.relation;
  if (promise.rule == PriceRule::kPlan) {
    SOTTO_ASSIGN(const Event event, parse_event(plan, run.relation));
    SOTTO_ASSIGN(promise.plan, canonical(event));
  }
  Tally tally;
  tally.planned = releases(promise.plan);
  tallies_.push_back(std::move(tally));
  runs_.push_back(std::move(run));
  current_ = runs_.size() - 1;
  return {};
}

Expected<void> RunReader::resume(const nlohmann::json& line) {
  const auto found = by_name_.find(line.at("resume").get_ref<const std::string&>());
  if (found == by_name_.end()) return no("it continues a run that is not here");
  current_ = found->second;
  JournalRun& run = runs_[*current_];
  Tally& tally = tallies_[*current_];
  if (run.end == kFinished) return no("it continues a run that has finished");
  SOTTO_ASSIGN(Counts stated, state(line, "spent"));
  // What was reserved in vain is lost, but charged. Of version 0.1 a seeded run was set back to its
  // checkpoint.
  if (line.contains("line"))
    for (const auto& [term, charged] : tally.counts)
      if (const auto it = stated.find(term); it == stated.end() || it->second.count < charged.count)
        return no("it states less than was charged before it");
  tally.counts = std::move(stated);
  tally.resumed = true;
  run.closed = false;
  run.end.clear();
  read_diagnostics(line, run);
  return {};
}

Expected<void> RunReader::close(const nlohmann::json& line) {
  Counts& counts = tallies_[*current_].counts;
  SOTTO_ASSIGN(Counts stated, state(line, "close"));
  for (const auto& [term, charged] : counts)
    if (const auto it = stated.find(term);
        it == stated.end() || it->second.count < charged.count - charged.spare)
      return no("it states less than can have been left of what was charged before it");
  counts = std::move(stated);
  runs_[*current_].closed = true;
  runs_[*current_].end = line.value("end", "");
  return {};
}

Expected<RunReader::Counts> RunReader::state(const nlohmann::json& line, const char* name) {
  JournalRun& run = runs_[*current_];
  const Counts& counts = tallies_[*current_].counts;
  SOTTO_ASSIGN(const Event event, parse_event(line.at(name).get<std::string>(), run.relation));
  SOTTO_ASSIGN(const CanonicalEvent terms, canonical(event));
  SOTTO_ASSIGN(run.samples, count_in(line, "samples", 0));
  Counts stated;
  for (const Term& term : terms.terms) {
    const auto charged = counts.find(term);
    if (charged == counts.end() || term.count > charged->second.count)
      return no("it states more than was charged before it");
    stated[term].count = term.count;
  }
  run.charged = {event};
  return stated;
}

Expected<void> RunReader::charge(const nlohmann::json& line) {
  JournalRun& run = runs_[*current_];
  Tally& tally = tallies_[*current_];
  SOTTO_ASSIGN(const Event event, parse_event(line.at("charge").get<std::string>(), run.relation));
  SOTTO_ASSIGN(const CanonicalEvent terms, canonical(event));
  SOTTO_ASSIGN(const std::int64_t count, count_in(line, "count", 1));
  SOTTO_ASSIGN(const std::int64_t samples, count_in(line, "samples", 0));
  for (const Term& term : terms.terms) {
    Charged& charged = tally.counts[term];
    if (term.count > kMost / count || charged.count > kMost - count * term.count)
      return no("its 'count' is out of range");
    charged.count += count * term.count;
    charged.spare = (count - 1) * term.count;
    // A continued run may pay for lost releases again.
    if (run.promise.rule == PriceRule::kPlan && !tally.resumed &&
        charged.count > planned(run.promise.plan, term))
      return no("its charge is not in the plan of its run");
  }
  tally.most_samples = std::max(tally.most_samples, samples);
  // Of version 0.1 they bound what all planned releases draw.
  const std::int64_t times = run.states_no_rule ? std::max(count, tally.planned) : count;
  std::int64_t most = 0;
  if (__builtin_mul_overflow(times, samples, &most) ||
      __builtin_add_overflow(run.samples, count * samples, &run.samples))
    return no("its 'samples' are out of range");
  run.charged.push_back(Event::repeat(count, event));
  if (run.promise.rule == PriceRule::kFilter)
    run.granted.push_back(count == 1 ? event : run.charged.back());
  return {};
}

}  // namespace sotto
