#include "sotto/training/checkpointer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/core/option_names.hpp"

namespace sotto {
namespace {

/// So many states on the way, where nobody said how often: by counts, since a clock would tell how
/// long steps took.
constexpr std::int64_t kUsualStates = 100;

}  // namespace

Checkpointer::Checkpointer(Observer& next,
                           const CheckpointOptions& options,
                           CheckpointFile& file,
                           Checkpoint frame,
                           Archived around,
                           Ledger* ledger,
                           const Checkpoint* resumed,
                           Eigen::Index dimension)
    : next_(next),
      options_(options),
      file_(file),
      frame_(std::move(frame)),
      around_(std::move(around)),
      ledger_(ledger),
      resumed_(resumed),
      dimension_(dimension) {}

Expected<void> Checkpointer::begin(Archived state) {
  state_ = std::move(state);
  if (!resumed_) return {};
  StateReader reader(resumed_->state, dimension_);
  state_(reader);
  around_(reader);
  if (auto read = reader.finish(); !read)
    return fail(
        ErrorKind::kBadData,
        fmt::format("the checkpoint {} can't be continued: {}. Nothing was released. Remove "
                    "it and start afresh.",
                    options_.path,
                    read.error().message));
  return {};
}

bool Checkpointer::keep_going(const StepReport& report) {
  SOTTO_CHECK(state_ != nullptr);
  if (!next_.keep_going(report)) {
    stopped_ = write(report);
    // Nobody will see a model: nothing more may be charged for one.
    if (ledger_ && stopped_) stopped_ = ledger_->close(kEndedEarly);
    return false;
  }
  const std::int64_t usual = std::max<std::int64_t>(1, report.steps / kUsualStates);
  // A filter may end a run long before the steps that it allows for: a crash then loses no more
  // than a sixteenth of those made.
  const bool open_end = ledger_ && ledger_->filter_share();
  const std::int64_t every = options_.every.value_or(
      open_end ? std::clamp<std::int64_t>(report.step / 16, 1, usual) : usual);
  if (report.step % every != 0 || report.step == report.steps) return true;
  auto written = write(report);
  const bool was_failing = std::exchange(failing_, !written);
  if (!written) trouble_ = with_flags(written.error().message);  // the record's
  if (failing_ && !was_failing && options_.warn) options_.warn(trouble_);
  return true;
}

Expected<void> Checkpointer::write(const StepReport& report) {
  StateWriter writer;
  state_(writer);
  around_(writer);
  frame_.step = report.step;
  frame_.steps = report.steps;
  frame_.state = writer.take();
  if (ledger_) {
    SOTTO_TRY(ledger_->confirm_journal(Journal::Look::kChanges));
    frame_.spent = to_string(to_event(ledger_->kept()));
    frame_.samples = ledger_->samples_kept();
    frame_.head = ledger_->journal_head();
  }
  return file_.write(frame_);
}

}  // namespace sotto
