#include "sotto/privacy/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/json.hpp"
#include "sotto/privacy/journal_writer.hpp"

namespace sotto {
namespace {

/// The file's lines, each parsed; without the last one if a crash cut it short.
struct Lines {
  std::vector<nlohmann::json> all;
  std::vector<std::string> chains;  ///< of each; empty for lines of version 0.1
  JournalHead head;                 ///< what the next line follows
  bool ended = true;                ///< the last one by a newline
  bool torn = false;                ///< it was cut short
  std::size_t torn_at = 0;          ///< where it begins
};

constexpr std::int64_t kMostJournalBytes = std::int64_t{1} << 28;  // a million runs
constexpr std::size_t kLongestLine = std::size_t{1} << 24;         // a plan of 100,000 kinds

std::string place(const std::string& path, std::size_t number) {
  return fmt::format("{}:{}", path, number);
}

tl::unexpected<Error> refused(const std::string& where, const std::string& why) {
  return fail(ErrorKind::kBadData,
              fmt::format("{}: {}. Nobody can tell what was spent from a journal that lost "
                          "something: put back a copy from before it was damaged "
                          "(docs/reference/journal.md).",
                          where,
                          why));
}

// How a line ends: what its checksum is called says whether it has a key.
constexpr std::string_view kChain = ",\"chain\":\"";
constexpr std::string_view kSeal = ",\"seal\":\"";
constexpr std::string_view kLineEnd = "\"}";
constexpr std::size_t kDigits = 64;

std::string checksum(std::string_view key, std::string_view before, std::string_view body) {
  const std::string text = fmt::format("{}\n{}", before, body);
  return key.empty() ? sha256(text) : hmac_sha256(key, text);
}

/// A line's text without its checksum, and that. None: it has none.
struct Chained {
  std::string_view body;
  std::string_view chain;
  bool sealed = false;
};
std::optional<Chained> chained(std::string_view line) {
  const std::size_t tail = kDigits + kLineEnd.size();
  if (line.size() < tail || !line.ends_with(kLineEnd)) return std::nullopt;
  const std::string_view before = line.substr(0, line.size() - tail);
  const std::string_view digits = line.substr(before.size(), kDigits);
  for (const std::string_view name : {kChain, kSeal})
    if (before.ends_with(name))
      return Chained{before.substr(0, before.size() - name.size()), digits, name == kSeal};
  return std::nullopt;
}

/// Checks line after line that each follows from the one before it.
class ChainReader {
 public:
  ChainReader(std::string_view text, std::string_view key) : text_(text), key_(key) {}

  /// The line that begins here; an error says what is wrong with it.
  Expected<void> add(std::string_view line, std::size_t begin, const nlohmann::json& parsed) {
    ++head_.line;
    const auto wrong = [](const char* what) { return fail(ErrorKind::kBadData, what); };
    const auto ending = chained(line);
    if (!ending) {
      if (!head_.chain.empty()) return wrong("it has no checksum, but the line before it has");
      if (!key_.empty()) return wrong("it is not sealed with a key, but one was given");
      chains_.emplace_back();
      return {};
    }
    if (ending->sealed && key_.empty())
      return fail(ErrorKind::kUsage,
                  "it is sealed with a key, without which nobody can tell whether it was changed: "
                  "give ‘journal_key’");
    if (!ending->sealed && !key_.empty())
      return wrong("it is not sealed with a key, but one was given");
    // The first of them covers all lines of version 0.1 before it.
    const std::string before =
        head_.chain.empty() && begin > 0 ? sha256(text_.substr(0, begin)) : head_.chain;
    if (checksum(key_, before, ending->body) != ending->chain)
      return wrong(
          "its checksum does not follow from the line before it: a line was changed, lost or put "
          "in, or the key is another");
    const auto number = parsed.find("line");
    if (number == parsed.end() || !number->is_number_integer() || *number != head_.line)
      return wrong("its number is not that of its place");
    head_.chain = ending->chain;
    chains_.push_back(head_.chain);
    return {};
  }

  const JournalHead& head() const { return head_; }
  std::vector<std::string> take() { return std::move(chains_); }

 private:
  std::string_view text_;
  std::string_view key_;
  JournalHead head_;
  std::vector<std::string> chains_;
};

Expected<Lines> read_lines(std::string_view text, const std::string& path, const std::string& key) {
  Lines lines;
  ChainReader chain(text, key);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::string where = place(path, lines.all.size() + 1);
    lines.ended = end < text.size();
    auto parsed = parse_json(line);
    if (!parsed) {
      // A write that did not finish ends the file, without the newline that is its last byte;
      // nothing was released for it.
      if (lines.ended) return refused(where, "this line can't be read, and was not cut short");
      if (line.size() > kLongestLine)
        return refused(where,
                       "what follows is longer than any line, and no line that was cut short");
      lines.torn = true;
      lines.torn_at = begin;
      break;
    }
    if (auto added = chain.add(line, begin, *parsed); !added) {
      if (added.error().kind == ErrorKind::kUsage)
        return fail(ErrorKind::kUsage, fmt::format("{}: {}.", where, added.error().message));
      return refused(where, added.error().message);
    }
    lines.all.push_back(*std::move(parsed));
    begin = end + 1;
  }
  lines.head = chain.head();
  if (lines.head.chain.empty() && lines.head.line > 0) {  // all of it is of version 0.1
    const std::string_view whole = lines.torn ? text.substr(0, lines.torn_at) : text;
    lines.head.chain = sha256(fmt::format("{}{}", whole, lines.ended || lines.torn ? "" : "\n"));
  }
  lines.chains = chain.take();
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

  static void read_diagnostics(const nlohmann::json& line, JournalRun& run) {
    if (line.contains("unsafe_diagnostics"))
      run.unsafe_diagnostics = line["unsafe_diagnostics"].get<bool>();
  }

  Expected<void> open(const nlohmann::json& line, const std::string& where) {
    JournalRun run;
    run.where = where;
    run.name = line.value("run", "");
    for (const JournalRun& other : runs_)
      if (!run.name.empty() && other.name == run.name) return no("its run was opened before");
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
    if (found->end == kFinished) return no("it continues a run that has finished");
    resumed_[*current_] = true;
    const Counts reserved = counts_[*current_];
    SOTTO_TRY(state(line, "spent"));
    // Of version 0.1 a seeded run was set back to its checkpoint.
    for (const auto& [term, count] : reserved)
      if (const auto stated = counts_[*current_].find(term);
          line.contains("line") && (stated == counts_[*current_].end() || stated->second < count))
        return no("it states less than was charged before it");
    found->closed = false;
    found->end.clear();
    read_diagnostics(line, *found);
    return {};
  }

  Expected<void> close(const nlohmann::json& line) {
    SOTTO_TRY(state(line, "close"));
    runs_[*current_].closed = true;
    runs_[*current_].end = line.value("end", "");
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
    if (run.promise.rule == PriceRule::kFilter)
      run.granted.push_back(count == 1 ? event : run.charged.back());
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

Expected<Journal> Journal::open(const std::string& path,
                                const std::string& key,
                                const Condition& condition) {
  auto log = AppendLog::open(path);
  if (!log)
    return fail(
        log.error().kind,
        fmt::format("the journal can't be used, in which every charge is written before its answer "
                    "exists: {}",
                    log.error().message));
  Journal journal(*std::move(log), key);
  SOTTO_ASSIGN(const std::string text, journal.log_.read(kMostJournalBytes));
  // What follows must start on a line of its own, after lines that can be read.
  SOTTO_ASSIGN(const Lines lines, read_lines(text, path, key));
  JournalContent content;
  SOTTO_ASSIGN(content.runs, read_runs(lines, path));
  content.chains = lines.chains;
  if (condition) SOTTO_TRY(condition(content));
  if (lines.torn) SOTTO_TRY(journal.log_.cut(static_cast<std::int64_t>(lines.torn_at)));
  if (!lines.ended && !lines.torn) SOTTO_TRY(journal.log_.append("\n"));
  journal.head_ = lines.head;
  if (const auto now = identity_of(journal.log_.descriptor(), path)) journal.seen_ = *now;
  return journal;
}

Expected<bool> Journal::holds_our_lines(bool what_they_say) {
  SOTTO_ASSIGN(const std::string text, log_.read(kMostJournalBytes));
  const auto lines = read_lines(text, path(), key_);
  if (!lines || (lines->torn && !log_.is_broken()) || lines->head.line != head_.line ||
      lines->head.chain != head_.chain)
    return false;
  if (what_they_say) SOTTO_TRY(read_runs(*lines, path()));
  return true;
}

// The time of the last change is asked for before every line, which costs next to nothing beside
// its sync. It only says when to look: a backup that links to the file changes it, too.
Expected<void> Journal::check_untouched(bool what_they_say) {
  if (!spoilt_) {
    const auto now = identity_of(log_.descriptor(), path());
    if (now && seen_ && *now == *seen_) return {};
    SOTTO_ASSIGN(const bool ours, holds_our_lines(what_they_say));
    spoilt_ = !ours;
  }
  if (spoilt_)
    return fail(ErrorKind::kIo,
                fmt::format("{} was changed by another program while it was in use. Nothing more "
                            "was written to it.",
                            path()));
  return {};
}

Expected<void> Journal::append_last(const std::string& line) {
  seen_.reset();
  SOTTO_TRY(check_untouched(true));
  return append(line);
}

Expected<void> Journal::confirm(Look look) {
  SOTTO_TRY(log_.check_name());
  const bool every_line = look == Look::kEveryLine;
  if (every_line) seen_.reset();
  return check_untouched(every_line);
}

Expected<void> Journal::append(const std::string& line) {
  SOTTO_CHECK(line.ends_with('}') && line.find('\n') == std::string::npos);
  if (auto untouched = check_untouched(false); !untouched)
    return fail(untouched.error().kind,
                fmt::format("{} Nothing was released for the charge that the journal refused.",
                            untouched.error().message));
  const std::string body = fmt::format(
      "{},\"line\":{}", std::string_view(line).substr(0, line.size() - 1), head_.line + 1);
  const std::string chain = checksum(key_, head_.chain, body);
  if (auto written = log_.append(
          fmt::format("{}{}{}{}\n", body, key_.empty() ? kChain : kSeal, chain, kLineEnd));
      !written)
    return fail(written.error().kind,
                fmt::format("{} Nothing was released for the charge that the journal refused.",
                            written.error().message));
  head_ = {head_.line + 1, chain};
  seen_ = log_.written();
  return {};
}

bool JournalContent::holds(const JournalHead& head) const {
  return head.line >= 1 && head.line <= std::ssize(chains) && !head.chain.empty() &&
         chains[static_cast<std::size_t>(head.line - 1)] == head.chain;
}

Expected<JournalContent> read_whole_journal(const std::string& path, const std::string& key) {
  SOTTO_ASSIGN(const std::string text, read_text_file(path, kMostJournalBytes, Source::kRegular));
  SOTTO_ASSIGN(Lines lines, read_lines(text, path, key));
  JournalContent content;
  SOTTO_ASSIGN(content.runs, read_runs(lines, path));
  content.chains = std::move(lines.chains);
  return content;
}

Expected<std::vector<JournalRun>> read_journal(const std::string& path, const std::string& key) {
  SOTTO_ASSIGN(JournalContent content, read_whole_journal(path, key));
  return std::move(content.runs);
}

Expected<std::string> read_journal_key(const std::string& path) {
  constexpr std::int64_t kMostBytes = 4096;
  constexpr std::size_t kFewest = 16;
  if (path.empty()) return std::string();
  SOTTO_ASSIGN(std::string key, read_text_file(path, kMostBytes));
  if (key.size() < kFewest)
    return fail(ErrorKind::kUsage,
                fmt::format("the key in {} has {} bytes, too few to be a secret; at least {} are "
                            "needed, e.g. from `head -c 32 /dev/urandom`.",
                            path,
                            key.size(),
                            kFewest));
  return key;
}

Expected<double> price(const JournalRun& run, double delta) {
  SOTTO_ASSIGN(const CanonicalEvent charged, canonical(Event::compose(run.charged)));
  if (auto granted = check_granted(run.promise, charged, run.samples); !granted)
    return granted.error().kind == ErrorKind::kBadData ? refused(run.where, granted.error().message)
                                                       : tl::unexpected(granted.error());
  // Of a run that was not closed nobody can tell whether its last lines were lost.
  if (run.closed && charged.terms.empty()) return 0.0;
  auto price = price_of_promise(run.promise, charged, delta);
  // At its own delta whoever asks has typed nothing wrong.
  if (!price && price.error().kind == ErrorKind::kUsage && delta == run.promise.budget.delta)
    return refused(run.where, price.error().message);
  return price;
}

Expected<JournalRun> find_run(const JournalContent& journal,
                              const std::string& path,
                              const std::string& name) {
  for (const JournalRun& run : journal.runs)
    if (!name.empty() && run.name == name) return run;
  return fail(
      ErrorKind::kBudget,
      fmt::format("the journal {} does not hold the run that wrote this checkpoint, so nobody can "
                  "tell what was spent since. Nothing was released. Put the run's own journal "
                  "there, or start afresh without the checkpoint.",
                  path));
}

}  // namespace sotto
