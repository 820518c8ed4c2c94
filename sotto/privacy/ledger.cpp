#include "sotto/privacy/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/json.hpp"

namespace sotto {

Expected<Ledger> Ledger::open(LedgerOptions options) {
  if (!options.filter.empty()) return open_with_filter(std::move(options));
  SOTTO_ASSIGN(const CanonicalEvent plan, canonical(options.plan));
  if (!options.accountant) {
    SOTTO_ASSIGN(options.accountant, tightest_accountant(plan));
  }
  SOTTO_TRY(options.accountant->supports(plan));

  Ledger ledger(std::move(options));
  ledger.relation_ = plan.relation;
  for (const Term& term : plan.terms) ledger.accounts_[term] = Account{term, term.count, 0, 0};

  const LedgerOptions& granted = ledger.options_;
  if (std::isfinite(granted.budget.epsilon)) {
    SOTTO_TRY(check(granted.budget));
    SOTTO_ASSIGN(const Target ideal, ideal_target(granted.budget, granted.planned_samples));
    SOTTO_ASSIGN(ledger.epsilon_planned_,
                 epsilon_with_samples(
                     plan, granted.planned_samples, granted.budget.delta, *granted.accountant));
    if (ledger.epsilon_planned_ > granted.budget.epsilon) {
      // A calibrated plan may lie within the budget by the last digit only.
      SOTTO_ASSIGN(ledger.epsilon_planned_, granted.accountant->epsilon_upper(plan, ideal.delta));
    }
    if (!(ledger.epsilon_planned_ <= granted.budget.epsilon))
      return fail(
          ErrorKind::kBudget,
          fmt::format("the plan {} costs epsilon {} at delta {}, which exceeds the budget of {}. "
                      "Nothing was released. Use more noise, fewer steps or a larger "
                      "‘epsilon’.",
                      to_string(granted.plan),
                      text_up(ledger.epsilon_planned_),
                      granted.budget.delta,
                      granted.budget.epsilon));
  } else {
    SOTTO_ASSIGN(ledger.epsilon_planned_,
                 epsilon_with_samples(
                     plan, granted.planned_samples, granted.budget.delta, *granted.accountant));
  }

  SOTTO_TRY(ledger.open_journal());
  return ledger;
}

Expected<Ledger> Ledger::open_with_filter(LedgerOptions options) {
  SOTTO_ASSIGN(const Accountant* accountant, find_accountant(options.filter));
  if (options.accountant && options.accountant->name() != accountant->name())
    return fail(
        ErrorKind::kUsage,
        fmt::format("this method chooses its releases as it runs, which only its filter, {}, "
                    "can account for; the accountant {} needs a schedule fixed in advance. "
                    "Leave out ‘accountant’.",
                    options.filter,
                    options.accountant->name()));
  SOTTO_TRY(check(options.budget));
  SOTTO_ASSIGN(const Target ideal, ideal_target(options.budget, options.planned_samples));
  options.accountant = accountant;
  Ledger ledger(std::move(options));
  SOTTO_ASSIGN(ledger.filter_, make_filter(ledger.options_.filter, ideal));
  ledger.relation_ = ledger.options_.relation;
  ledger.epsilon_planned_ = ledger.options_.budget.epsilon;
  SOTTO_TRY(ledger.open_journal());
  return ledger;
}

namespace {

Expected<void> check_known_lines(const LedgerOptions& options, const JournalContent& journal) {
  for (const KnownLine& known : options.known_lines)
    if (!journal.holds(known.head))
      return fail(
          ErrorKind::kBadData,
          fmt::format("the journal {} does not hold line {}, which {} knows: it was cut back, "
                      "replaced or removed since, and would count too little. Nothing was "
                      "released. Put the journal back. If this run is to have a journal of its "
                      "own, name another path, or move {} away.",
                      options.journal_path,
                      known.head.line,
                      known.file,
                      known.file));
  return {};
}

}  // namespace

Expected<void> Ledger::open_journal() {
  if (!options_.journal_path.empty()) {
    // Opening it would make one where it was removed: then no line is there, nor the run.
    SOTTO_ASSIGN(const bool there, file_exists(options_.journal_path));
    if (!there) SOTTO_TRY(check_known_lines(options_, {}));
    if (!there && options_.resume)
      SOTTO_TRY(read_whole_journal(options_.journal_path, options_.journal_key));
    // Only when the journal is ours does it tell what was spent: what was read before may have been
    // changed since.
    JournalContent before;
    SOTTO_ASSIGN(journal_,
                 Journal::open(options_.journal_path,
                               options_.journal_key,
                               [&](const JournalContent& content) -> Expected<void> {
                                 SOTTO_TRY(check_known_lines(options_, content));
                                 if (options_.resume) {
                                   before = content;
                                   return {};
                                 }
                                 if (options_.journal_condition)
                                   SOTTO_TRY(options_.journal_condition(content));
                                 return check_journal_room(content, options_.journal_path);
                               }));
    if (options_.resume) SOTTO_TRY(continue_run(*options_.resume, before));
  } else if (options_.resume) {
    return fail(ErrorKind::kUsage,
                "a run is continued with its journal, which alone tells what it spent since its "
                "last checkpoint. Give the journal's path.");
  }
  if (!journal_) return {};
  if (options_.resume) {
    nlohmann::json line = {{"resume", options_.run},
                           {"spent", to_string(to_event(spent()))},
                           {"samples", samples_spent()}};
    if (!options_.unit.empty()) line["unsafe_diagnostics"] = options_.unsafe_diagnostics;
    return journal_->append(json_text(line));
  }
  nlohmann::json line = {{"open", 2},
                         {"method", options_.method},
                         {"epsilon", options_.budget.epsilon},
                         {"delta", options_.budget.delta},
                         {"neighbours", to_string(relation_)},
                         {"accountant", options_.accountant->name()},
                         {"rule", to_string(filter_ ? PriceRule::kFilter : PriceRule::kPlan)},
                         {"plan", filter_ ? "filter " + options_.filter : to_string(options_.plan)},
                         {"samples", options_.planned_samples},
                         {"units", options_.units},
                         {"seeded", options_.seeded}};
  if (!options_.unit.empty()) {
    line["unit"] = options_.unit;
    line["unsafe_diagnostics"] = options_.unsafe_diagnostics;
  }
  if (options_.run.empty())
    options_.run =
        sha256(fmt::format("{}\n{}\n{}", journal_->head().chain, options_.nonce, json_text(line)))
            .substr(0, 32);
  line["run"] = options_.run;
  return journal_->append(json_text(line));
}

Expected<Receipt> Ledger::charge(const Event& event, std::int64_t samples) {
  SOTTO_CHECK(samples >= 0);
  SOTTO_ASSIGN(const CanonicalEvent wanted, canonical(event));
  if (closed_)
    return fail(ErrorKind::kBudget,
                fmt::format("the run has ended, but {} is asked for. Nothing was released for it.",
                            to_string(event)));
  if (filter_) return charge_filter(event, wanted, samples);
  // Look at everything before anything changes.
  for (const Term& term : wanted.terms) {
    const auto found = accounts_.find(term);
    const std::int64_t left =
        found == accounts_.end() ? 0 : found->second.planned - found->second.spent;
    if (wanted.relation != relation_ || left < term.count)
      return fail(
          ErrorKind::kBudget,
          fmt::format("the release {} is not in the plan any more ({} left of it). Nothing was "
                      "released for it.",
                      to_string(event),
                      left));
  }
  if (samples_spent_ + samples > options_.planned_samples)
    return fail(ErrorKind::kBudget,
                fmt::format("the release {} draws more noise samples than the plan declared ({}).",
                            to_string(event),
                            options_.planned_samples));
  SOTTO_TRY(check_room(wanted, samples));
  for (const Term& term : wanted.terms) {
    Account& account = accounts_.at(term);
    for (std::int64_t k = 0; k < term.count; ++k) {
      if (account.reserved == 0) SOTTO_TRY(reserve(account, samples));
      --account.reserved;
      ++account.spent;
    }
  }
  samples_spent_ += samples;
  return Receipt(Passkey<Ledger>{}, event, samples);
}

Expected<Receipt> Ledger::charge_filter(const Event& event,
                                        const CanonicalEvent& wanted,
                                        std::int64_t samples) {
  if (wanted.relation != relation_ || samples_spent() + samples > options_.planned_samples)
    return fail(ErrorKind::kBudget,
                fmt::format("the release {} is under another relation than the run, or draws more "
                            "noise samples than were declared ({}). Nothing was released for it.",
                            to_string(event),
                            options_.planned_samples));
  SOTTO_TRY(filter_->try_spend(event));
  if (journal_) {
    const nlohmann::json line = {
        {"run", options_.run}, {"charge", to_string(event)}, {"count", 1}, {"samples", samples}};
    SOTTO_TRY(journal_->append(json_text(line)));
  }
  for (const Term& term : wanted.terms) {
    Account& account = accounts_.try_emplace(term, Account{term, 0, 0, 0}).first->second;
    account.spent += term.count;
  }
  samples_spent_ += samples;
  return Receipt(Passkey<Ledger>{}, event, samples);
}

Expected<void> Ledger::reserve(Account& account, std::int64_t samples) {
  const std::int64_t left = account.planned - account.spent;
  if (!journal_) {
    account.reserved = left;
    return {};
  }
  constexpr std::int64_t kShare = 16;
  const std::int64_t chunk = std::max<std::int64_t>(1, account.spent / kShare);
  // Beside lost releases only as many as were found to fit; and one by one while others may be
  // asked for, which would be found to fit without what is reserved here.
  const bool alone = std::all_of(accounts_.begin(), accounts_.end(), [&](const auto& each) {
    return &each.second == &account || each.second.planned == each.second.spent;
  });
  const std::int64_t fitting = !has_lost_                    ? left
                               : roomy_ == &account && alone ? std::min(room_, left)
                                                             : 1;
  const std::int64_t count = std::min(chunk, std::max<std::int64_t>(1, fitting));
  const nlohmann::json line = {{"run", options_.run},
                               {"charge", to_string(account.term)},
                               {"count", count},
                               {"samples", samples}};
  SOTTO_TRY(journal_->append(json_text(line)));
  account.reserved = count;
  return {};
}

Expected<void> Ledger::close(const std::string& how) {
  if (std::exchange(closed_, true) || !journal_) return {};
  const nlohmann::json line = {{"run", options_.run},
                               {"close", to_string(to_event(spent()))},
                               {"samples", samples_spent()},
                               {"end", how}};
  return journal_->append_last(json_text(line));
}

CanonicalEvent Ledger::spent() const { return counted(&Account::spent, &Account::lost); }

CanonicalEvent Ledger::lost() const { return counted(&Account::lost, nullptr); }

CanonicalEvent Ledger::kept() const { return counted(&Account::spent, nullptr); }

CanonicalEvent Ledger::counted(std::int64_t Account::*first, std::int64_t Account::*second) const {
  CanonicalEvent event{relation_, {}};
  for (const auto& [unused, account] : accounts_) {
    Term term = account.term;
    term.count = account.*first + (second ? account.*second : 0);
    if (term.count > 0) event.terms.push_back(term);
  }
  if (event.terms.empty()) return event;
  // Through the canonical form once more: it fixes the order.
  return *canonical(to_event(event));
}

double Ledger::price() const {
  const CanonicalEvent charged = spent();
  if (charged.terms.empty()) return 0;
  // Lost releases may exceed the plan, up to the limit that check_room() holds them to.
  const bool by_limit = filter_ || (has_lost_ && std::isfinite(options_.budget.epsilon));
  return by_limit ? options_.budget.epsilon : epsilon_planned_;
}

}  // namespace sotto
