// How a ledger goes on with an interrupted run. What it counts, and why that suffices:
// ledger_resume.proof.md.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/privacy/ledger.hpp"

namespace sotto {
namespace {

std::int64_t count_of(const CanonicalEvent& event, const Term& wanted) {
  const TermOrder before;
  for (const Term& term : event.terms)
    if (!before(term, wanted) && !before(wanted, term)) return term.count;
  return 0;
}

}  // namespace

Expected<void> Ledger::continue_run(const LedgerResume& resume, const JournalContent& journal) {
  SOTTO_ASSIGN(const JournalRun run, find_run(journal, options_.journal_path, options_.run));
  if (run.end == kFinished)
    return fail(ErrorKind::kBudget,
                "the run of this checkpoint has finished, and its model was written. Nothing was "
                "released. Remove the checkpoint to start afresh.");
  if (resume.head.line > 0 && !journal.holds(resume.head))
    return fail(ErrorKind::kBudget,
                fmt::format("the journal {} is not the one that this run wrote, or was cut back "
                            "since: it does not hold line {} as it was. Nothing was released. Put "
                            "the run's own journal there.",
                            options_.journal_path,
                            resume.head.line));
  SOTTO_ASSIGN(const CanonicalEvent charged, canonical(Event::compose(run.charged)));
  const std::int64_t charged_samples = run.samples;
  const auto mismatch = [&](const std::string& what) {
    return fail(ErrorKind::kBudget,
                fmt::format("the checkpoint does not fit the ledger: {}. Nothing was released. "
                            "Start afresh without the checkpoint.",
                            what));
  };
  if (resume.kept.relation != relation_ || charged.relation != relation_)
    return mismatch("it is under another relation");
  if (resume.kept_samples < 0 || charged_samples < resume.kept_samples)
    return mismatch("the journal has fewer noise samples than the checkpoint");
  for (const Term& term : resume.kept.terms) {
    if (const std::int64_t paid = count_of(charged, term); paid < term.count)
      return mismatch(
          fmt::format("it holds {} of {}, the journal only {}", term.count, to_string(term), paid));
    if (!filter_ && (!accounts_.contains(term) || accounts_.at(term).planned < term.count))
      return mismatch(
          fmt::format("it holds {} of {}, more than was planned", term.count, to_string(term)));
  }
  for (const Term& term : charged.terms) {
    if (!filter_ && !accounts_.contains(term))
      return mismatch(fmt::format("the journal has {}, which is not in the plan", to_string(term)));
    Account& account = accounts_.try_emplace(term, Account{term, 0, 0, 0, 0}).first->second;
    account.spent = count_of(resume.kept, term);
    account.lost = term.count - account.spent;
    has_lost_ = has_lost_ || account.lost > 0;
  }
  samples_spent_ = resume.kept_samples;
  lost_samples_ = charged_samples - resume.kept_samples;
  // One by one, as they were granted: the filter then is where it was, to the last bit.
  if (filter_)
    for (const Event& event : run.granted) SOTTO_TRY(filter_->try_spend(event));
  if (!filter_) {
    SOTTO_ASSIGN(const bool granted, fits(CanonicalEvent{relation_, {}}, 0));
    if (!granted) return mismatch("the journal holds more than a ledger would have granted");
  }
  return {};
}

Expected<bool> Ledger::fits(const CanonicalEvent& more, std::int64_t samples) const {
  const std::int64_t all_samples = samples_spent() + samples;
  bool planned = all_samples <= options_.planned_samples;
  CanonicalEvent total{relation_, {}};
  for (const auto& [unused, account] : accounts_) {
    Term term = account.term;
    term.count = account.spent + account.lost + count_of(more, account.term);
    planned = planned && term.count <= account.planned;
    if (term.count > 0) total.terms.push_back(term);
  }
  if (planned) return true;  // a part of what was priced when the ledger opened
  SOTTO_ASSIGN(total, canonical(to_event(total)));
  SOTTO_ASSIGN(
      const double epsilon,
      epsilon_with_samples(total, all_samples, options_.budget.delta, *options_.accountant));
  return epsilon <=
         (std::isfinite(options_.budget.epsilon) ? options_.budget.epsilon : epsilon_planned_);
}

Expected<void> Ledger::check_room(const CanonicalEvent& wanted, std::int64_t samples) {
  if (!has_lost_) return {};
  const auto refusal = [&] {
    return fail(ErrorKind::kBudget,
                fmt::format("the budget is spent: {} was paid for before the run was interrupted, "
                            "and again since. Nothing was released for what is asked now.",
                            to_string(to_event(lost()))));
  };
  roomy_ = wanted.terms.size() == 1 ? roomy_ : nullptr;
  if (wanted.terms.size() != 1) {
    SOTTO_ASSIGN(const bool enough, fits(wanted, samples));
    if (!enough) return refusal();
    return {};
  }
  const Term& term = wanted.terms[0];
  const Account& account = accounts_.at(term);
  if (roomy_ != &account || room_ < term.count) {
    // All that is left of this account, or as much of it as fits: a price for many charges.
    const auto enough = [&](std::int64_t count) {
      CanonicalEvent more = wanted;
      more.terms[0].count = count;
      return fits(more, (count + term.count - 1) / term.count * samples);
    };
    std::int64_t low = 0;
    std::int64_t high = account.planned - account.spent;
    SOTTO_ASSIGN(const bool all, enough(high));
    if (all) low = high;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      SOTTO_ASSIGN(const bool fitting, enough(middle));
      (fitting ? low : high) = middle;
    }
    roomy_ = &account;
    room_ = low;
  }
  if (room_ < term.count) return refusal();
  room_ -= term.count;
  return {};
}

}  // namespace sotto
