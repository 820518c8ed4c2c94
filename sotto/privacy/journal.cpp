#include "sotto/privacy/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "sotto/core/file.hpp"

namespace sotto {
namespace {

/// The file's lines, each parsed; without the last one if a crash cut it short.
struct Lines {
  std::vector<nlohmann::json> all;
  bool ended = true;        ///< the last one by a newline
  bool torn = false;        ///< it was cut short
  std::size_t torn_at = 0;  ///< where it begins
};

std::string place(const std::string& path, std::size_t number) {
  return fmt::format("{}:{}", path, number);
}

tl::unexpected<Error> refused(const std::string& where, const std::string& why) {
  return fail(ErrorKind::kBadData,
              fmt::format("{}: {}. Nobody can tell what was spent from a journal that lost "
                          "something: put back a copy from before it was damaged "
                          "(docs/accounting.md).",
                          where,
                          why));
}

Expected<Lines> read_lines(const std::string& path) {
  SOTTO_ASSIGN(const std::string text, read_text_file(path));
  Lines lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    nlohmann::json line = nlohmann::json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                                text.begin() + static_cast<std::ptrdiff_t>(end),
                                                nullptr,
                                                false);
    lines.ended = end < text.size();
    if (line.is_discarded()) {
      // A write that did not finish ends the file, without the newline that is its last byte;
      // nothing was released for it.
      if (lines.ended)
        return refused(place(path, lines.all.size() + 1),
                       "this line can't be read, and was not cut short");
      lines.torn = true;
      lines.torn_at = begin;
      break;
    }
    lines.all.push_back(std::move(line));
    begin = end + 1;
  }
  return lines;
}

/// Puts the lines together to runs. Every failure says why its line can't stand where it does.
class RunReader {
 public:
  Expected<void> add(const nlohmann::json& line, const std::string& where) {
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

  std::vector<JournalRun> take() {
    for (std::size_t k = 0; k < runs_.size(); ++k) {
      Promise& promise = runs_[k].promise;
      if (!runs_[k].states_no_rule) continue;
      promise.samples = std::max(runs_[k].samples, releases(promise.plan) * most_samples_[k]);
    }
    return std::move(runs_);
  }

 private:
  using Counts = std::map<Term, std::int64_t, TermOrder>;
  static constexpr std::int64_t kMost = std::int64_t{1} << 53;

  static tl::unexpected<Error> no(const std::string& why) { return fail(ErrorKind::kBadData, why); }

  static Expected<std::int64_t> count_in(const nlohmann::json& line,
                                         const char* name,
                                         std::int64_t least) {
    const nlohmann::json& count = line.at(name);
    if (!count.is_number_integer() || count < least || count > kMost)
      return no(fmt::format("its '{}' is out of range", name));
    return count.get<std::int64_t>();
  }

  Expected<void> open(const nlohmann::json& line, const std::string& where) {
    JournalRun run;
    run.where = where;
    run.name = line.value("run", "");
    for (const JournalRun& other : runs_)
      if (!run.name.empty() && other.name == run.name) return no("its run was opened before");
    run.method = line.at("method").get<std::string>();
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
    runs_.push_back(std::move(run));
    counts_.emplace_back();
    resumed_.push_back(false);
    most_samples_.push_back(1);
    current_ = runs_.size() - 1;
    return {};
  }

  Expected<void> resume(const nlohmann::json& line) {
    const auto name = line.at("resume").get<std::string>();
    const auto found = std::find_if(
        runs_.begin(), runs_.end(), [&](const JournalRun& each) { return each.name == name; });
    if (found == runs_.end()) return no("it continues a run that is not here");
    current_ = static_cast<std::size_t>(found - runs_.begin());
    resumed_[*current_] = true;
    SOTTO_TRY(state(line, "spent"));
    found->closed = false;
    return {};
  }

  Expected<void> close(const nlohmann::json& line) {
    SOTTO_TRY(state(line, "close"));
    runs_[*current_].closed = true;
    return {};
  }

  /// These lines state exactly what was charged; between them only reservations are known.
  Expected<void> state(const nlohmann::json& line, const char* name) {
    JournalRun& run = runs_[*current_];
    SOTTO_ASSIGN(const Event event, parse_event(line.at(name).get<std::string>(), run.relation));
    SOTTO_ASSIGN(const CanonicalEvent stated, canonical(event));
    SOTTO_ASSIGN(run.samples, count_in(line, "samples", 0));
    Counts counts;
    for (const Term& term : stated.terms) {
      counts[term] += term.count;
      const auto reserved = counts_[*current_].find(term);
      if (reserved == counts_[*current_].end() || counts[term] > reserved->second)
        return no("it states more than was charged before it");
    }
    counts_[*current_] = std::move(counts);
    run.charged = {event};
    return {};
  }

  Expected<void> charge(const nlohmann::json& line) {
    JournalRun& run = runs_[*current_];
    SOTTO_ASSIGN(const Event event,
                 parse_event(line.at("charge").get<std::string>(), run.relation));
    SOTTO_ASSIGN(const CanonicalEvent terms, canonical(event));
    SOTTO_ASSIGN(const std::int64_t count, count_in(line, "count", 1));
    SOTTO_ASSIGN(const std::int64_t samples, count_in(line, "samples", 0));
    Counts& counts = counts_[*current_];
    CanonicalEvent now{run.relation, {}};
    for (Term term : terms.terms) {
      if (term.count > kMost / count || counts[term] > kMost - count * term.count)
        return no("its 'count' is out of range");
      counts[term] += count * term.count;
      term.count = counts[term];
      now.terms.push_back(term);
    }
    // A continued run may pay for lost releases again.
    if (run.promise.rule == PriceRule::kPlan && !resumed_[*current_] &&
        !within(now, run.promise.plan))
      return no("its charge is not in the plan of its run");
    most_samples_[*current_] = std::max(most_samples_[*current_], samples);
    // Of version 0.1 they bound what all planned releases draw.
    const std::int64_t times =
        run.states_no_rule ? std::max(count, releases(run.promise.plan)) : count;
    std::int64_t most = 0;
    if (__builtin_mul_overflow(times, samples, &most) ||
        __builtin_add_overflow(run.samples, count * samples, &run.samples))
      return no("its 'samples' are out of range");
    run.charged.push_back(Event::repeat(count, event));
    return {};
  }

  std::vector<JournalRun> runs_;
  // Of each run: what its lines reserved so far, whether it was continued, and the most noise
  // samples that one of its charges drew.
  std::vector<Counts> counts_;
  std::vector<bool> resumed_;
  std::vector<std::int64_t> most_samples_;
  std::optional<std::size_t> current_;
};

Expected<std::vector<JournalRun>> read_runs(const Lines& lines, const std::string& path) {
  RunReader reader;
  for (std::size_t k = 0; k < lines.all.size(); ++k) {
    try {
      if (auto added = reader.add(lines.all[k], place(path, k + 1)); !added)
        return refused(place(path, k + 1), added.error().message);
    } catch (const nlohmann::json::exception&) {
      return refused(place(path, k + 1), "it is not a line of a Sotto journal");
    }
  }
  return reader.take();
}

}  // namespace

Expected<Journal> Journal::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return fail(
        ErrorKind::kIo,
        fmt::format("can't open the journal {} for writing: {}. Every charge is written there "
                    "before its answer exists; choose a model path in a writable folder.",
                    path,
                    std::strerror(errno)));
  Journal journal(path, descriptor);
  // Two runs at once would not see each other's charges.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return fail(ErrorKind::kIo,
                fmt::format("another run is writing to the journal {}. Wait until it has ended, or "
                            "choose another model path.",
                            path));
  // What follows must start on a line of its own, after lines that can be read.
  if (const off_t size = ::lseek(descriptor, 0, SEEK_END); size > 0) {
    SOTTO_ASSIGN(const Lines lines, read_lines(path));
    SOTTO_TRY(read_runs(lines, path));
    if (!lines.ended && !lines.torn && ::write(descriptor, "\n", 1) != 1)
      return fail(ErrorKind::kIo, fmt::format("can't write to the journal {}.", path));
    if (lines.torn && ::ftruncate(descriptor, static_cast<off_t>(lines.torn_at)) != 0)
      return fail(
          ErrorKind::kIo,
          fmt::format(
              "can't take the half line off the journal {}: {}.", path, std::strerror(errno)));
  }
  return journal;
}

Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Expected<void> Journal::append(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(descriptor_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      return fail(
          ErrorKind::kIo,
          fmt::format("can't write to the journal {}: {}. Nothing was released for the charge "
                      "that it refused; free some space and run again.",
                      path_,
                      std::strerror(errno)));
    done += static_cast<std::size_t>(written);
  }
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL && errno != EROFS)
    return fail(ErrorKind::kIo,
                fmt::format("can't sync the journal {}: {}.", path_, std::strerror(errno)));
  return {};
}

Expected<std::vector<JournalRun>> read_journal(const std::string& path) {
  SOTTO_ASSIGN(const Lines lines, read_lines(path));
  return read_runs(lines, path);
}

Expected<double> price(const JournalRun& run, double delta) {
  SOTTO_ASSIGN(const CanonicalEvent charged, canonical(Event::compose(run.charged)));
  if (auto granted = check_granted(run.promise, charged, run.samples); !granted)
    return granted.error().kind == ErrorKind::kBadData ? refused(run.where, granted.error().message)
                                                       : tl::unexpected(granted.error());
  // Of a run that was not closed nobody can tell whether its last lines were lost.
  return run.closed && charged.terms.empty() ? 0.0 : price_of_promise(run.promise, charged, delta);
}

Expected<JournalRun> find_run(const std::string& path, const std::string& name) {
  SOTTO_ASSIGN(const std::vector<JournalRun> runs, read_journal(path));
  for (const JournalRun& run : runs)
    if (!name.empty() && run.name == name) return run;
  return fail(
      ErrorKind::kBudget,
      fmt::format("the journal {} does not hold the run that wrote this checkpoint, so nobody can "
                  "tell what was spent since. Nothing was released. Put the run's own journal "
                  "there, or start afresh without the checkpoint.",
                  path));
}

}  // namespace sotto
