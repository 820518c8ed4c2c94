#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/event.hpp"
#include "sotto/privacy/filter.hpp"
#include "sotto/privacy/journal_writer.hpp"
#include "sotto/privacy/promise.hpp"
#include "sotto/privacy/receipt.hpp"

namespace sotto {

/// An interrupted run that is continued from a point at which it had written down its state.
struct LedgerResume {
  CanonicalEvent kept;  ///< charged up to that point: its answers are in the state
  std::int64_t kept_samples = 0;
  /// The journal's last line when the state was written. What it holds beyond `kept` was paid for
  /// and is lost.
  JournalHead head;
};

struct LedgerOptions {
  /// What may be spent. An infinite epsilon grants whatever the plan costs (noise given by hand, or
  /// a run that is not private).
  Target budget{std::numeric_limits<double>::infinity(), 0};
  /// The worst case of what the run will ask; a charge outside it is refused.
  Event plan = Event::compose({});
  /// `gaussian`, `zcdp` or `rdp`: no plan but a filter (privacy/filter.hpp), for runs whose
  /// releases depend on earlier answers. Needs a finite budget. Empty: the plan decides.
  std::string filter;
  /// With a filter: the relation of the releases.
  Relation relation = Relation::kZeroOut;
  /// Noise samples that the plan draws at most.
  std::int64_t planned_samples = 0;
  /// Null: the tightest that supports the plan. With a filter: its own, any other is refused.
  const Accountant* accountant = nullptr;
  /// For the journal's opening line: public facts of the run. Units: as many as are public; 0: not
  /// stated.
  std::string method;
  std::int64_t units = 0;
  bool seeded = false;
  /// What is protected; empty: neither this nor the next is stated.
  std::string unit;
  bool unsafe_diagnostics = false;
  /// Empty: no journal (tests, and programs that keep their own).
  std::string journal_path;
  std::string journal_key;  ///< empty: its checksums have none
  /// Lines that the journal must hold: where one is missing, it was cut back, replaced or removed,
  /// and nobody can tell what was spent.
  std::vector<KnownLine> known_lines;
  /// Of a new run: asked of what the journal holds once it is locked. What was looked at before may
  /// have changed since.
  JournalCondition journal_condition;
  /// The run's name in the journal, by which it is continued; public. Of a new run: empty, and
  /// open() makes one from the journal's last line, what the opening line says, and `nonce`:
  /// random, or for a seeded run, whose files shall be the same each time, its seed and public
  /// facts.
  std::string run;
  std::string nonce;
  std::optional<LedgerResume> resume;
};

/// Decides, before any row is read, whether a release may happen, and remembers it.
///
/// open() prices the whole plan and refuses one that exceeds the budget. charge() then only checks
/// that the event is still in the plan: whatever subset of a priced plan is released, it costs at
/// most the plan. This is sound for schedules fixed in advance, with any accountant; stopping early
/// is allowed but makes nothing cheaper (promise.proof.md), noise chosen from earlier answers is
/// not.
///
/// With a filter there is no plan: charge() asks the filter, which refuses what would overrun the
/// budget. Noise, sampling and number of releases may then depend on earlier answers, and the run
/// is certified at the whole budget, however little of it was used.
///
/// The journal is written and synced before charge() returns. To keep syncs from dominating short
/// steps, one line may reserve several equal charges at once, as many as a sixteenth of those made
/// before: a crash then over-counts by the rest of that line, and never under-counts. How many is a
/// function of counts alone; a clock would tell how long the steps took, and so about the rows.
///
/// A continued run (LedgerResume) that lost releases has paid for them: they count, and a charge is
/// granted only while all that was ever charged stays within the budget, or within the price of the
/// plan where the noise was given by hand (ledger_resume.proof.md).
class Ledger {
 public:
  static Expected<Ledger> open(LedgerOptions options);

  /// Pays for one release. Refusals are budget errors and change nothing.
  Expected<Receipt> charge(const Event& event, std::int64_t samples);

  /// Writes the exact total to the journal, when the run has ended, and how: kFinished once its
  /// model is on the disk, else kEndedEarly. Every later charge is refused; a second call does
  /// nothing.
  Expected<void> close(const std::string& how);

  /// That the journal still counts what was charged (Journal::confirm): asked before something
  /// leaves that rests on it.
  Expected<void> confirm_journal(Journal::Look look) {
    return journal_ ? journal_->confirm(look) : Expected<void>();
  }

  /// The journal's last line; none without a journal.
  JournalHead journal_head() const { return journal_ ? journal_->head() : JournalHead{}; }

  const LedgerOptions& options() const { return options_; }
  const Accountant& accountant() const { return *options_.accountant; }
  /// Everything charged so far, in canonical form; lost releases of a continued run included.
  CanonicalEvent spent() const;
  std::int64_t samples_spent() const { return samples_spent_ + lost_samples_; }
  /// Of these, what a continued run lost: charged on top of its plan; and the rest, whose answers
  /// the run has.
  CanonicalEvent lost() const;
  CanonicalEvent kept() const;
  std::int64_t samples_kept() const { return samples_spent_; }
  /// What the run costs at the budget's delta, whenever it ends: the plan's price, or the budget
  /// of its filter; nothing while nothing was charged.
  double price() const;
  /// With a filter: the share of its budget that is used up, in [0, 1].
  std::optional<double> filter_share() const {
    return filter_ ? std::optional<double>(filter_->spent()) : std::nullopt;
  }
  /// Upper bound on the epsilon of the whole plan.
  double epsilon_planned() const { return epsilon_planned_; }

 private:
  struct Account {
    Term term;
    std::int64_t planned = 0;
    std::int64_t spent = 0;
    std::int64_t reserved =
        0;                  ///< charges that the journal already holds but nobody has asked for yet
    std::int64_t lost = 0;  ///< charged before the run was continued, on top of `spent`
  };

  explicit Ledger(LedgerOptions options) : options_(std::move(options)) {}
  static Expected<Ledger> open_with_filter(LedgerOptions options);
  Expected<Receipt> charge_filter(const Event& event,
                                  const CanonicalEvent& wanted,
                                  std::int64_t samples);
  Expected<void> open_journal();
  Expected<void> reserve(Account& account, std::int64_t samples);
  CanonicalEvent counted(std::int64_t Account::*first, std::int64_t Account::*second) const;

  // ledger_resume.cpp
  Expected<void> continue_run(const LedgerResume& resume, const JournalContent& journal);
  /// Whether `more`, with `samples` noise samples, and all that was charged are within the limit.
  Expected<bool> fits(const CanonicalEvent& more, std::int64_t samples) const;
  /// Refuses what lost releases leave no room for.
  Expected<void> check_room(const CanonicalEvent& wanted, std::int64_t samples);

  LedgerOptions options_;
  std::unique_ptr<Filter> filter_;
  Relation relation_ = Relation::kZeroOut;
  double epsilon_planned_ = 0;
  std::map<Term, Account, TermOrder> accounts_;
  std::int64_t samples_spent_ = 0;
  std::int64_t lost_samples_ = 0;
  bool has_lost_ = false;
  bool closed_ = false;
  const Account* roomy_ = nullptr;  ///< has room for `room_` more charges, if no other is charged
  std::int64_t room_ = 0;
  std::optional<Journal> journal_;
};

}  // namespace sotto
