#include "sotto/privacy/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/json.hpp"
#include "sotto/core/stop.hpp"
#include "sotto/privacy/journal_runs.hpp"
#include "sotto/privacy/journal_writer.hpp"

namespace sotto {
namespace {

/// The file's lines; without the last one if a crash cut it short.
struct Lines {
  std::vector<std::string> chains;  ///< of each; empty for lines of version 0.1
  JournalHead head;                 ///< what the next line follows
  bool ended = true;                ///< the last one by a newline
  bool torn = false;                ///< it was cut short
  std::size_t torn_at = 0;          ///< where it begins
};

constexpr std::int64_t kMostJournalBytes = std::int64_t{1} << 28;  // a million runs
constexpr std::int64_t kRoomForARun = kMostJournalBytes / 16;
constexpr std::int64_t kLongestClosing = 4096;              // beside the events that it tells
constexpr std::size_t kLongestLine = std::size_t{1} << 24;  // a plan of 100,000 kinds

// How a line ends: what its checksum is called says whether it has a key.
constexpr std::string_view kChain = ",\"chain\":\"";
constexpr std::string_view kSeal = ",\"seal\":\"";
constexpr std::string_view kLineEnd = "\"}";
constexpr std::size_t kDigits = 64;

std::string checksum(std::string_view key, std::string_view before, std::string_view body) {
  const std::string text = fmt::format("{}\n{}", before, body);
  return key.empty() ? sha256(text) : hmac_sha256(key, text);
}

/// A line's text without its checksum, and that. None: it does not end with one.
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

/// Lines of version 0.1 state none of these: whatever does is one of a later version, and sound, or
/// it was damaged. Otherwise a byte behind every checksum would take them all away.
bool is_of_version_01(const nlohmann::json& line) {
  constexpr const char* kLater[] = {"rule", "line", "chain", "seal"};
  return std::none_of(std::begin(kLater),
                      std::end(kLater),
                      [&](const char* name) { return line.contains(name); }) &&
         (!line.contains("open") || line["open"] == 1);
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
      if (!is_of_version_01(parsed))
        return wrong("it does not end with its checksum, as lines of its version do");
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

/// What is done with every line; an error ends the reading.
using Each = std::function<Expected<void>(const nlohmann::json& line, const std::string& where)>;

Expected<Lines> read_lines(std::string_view text,
                           const std::string& path,
                           const std::string& key,
                           const Each& each) {
  Lines lines;
  ChainReader chain(text, key);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::string where = fmt::format("{}:{}", path, chain.head().line + 1);
    lines.ended = end < text.size();
    const auto parsed = parse_json(line);
    if (!parsed) {
      // A write that did not finish ends the file, without the newline that is its last byte;
      // nothing was released for it.
      if (lines.ended) return refused_line(where, "this line can't be read, and was not cut short");
      if (line.size() > kLongestLine)
        return refused_line(where,
                            "what follows is longer than any line, and no line that was cut short");
      if (!is_beginning_of_object(line))
        return refused_line(where,
                            "what follows is not the beginning of a line that was cut short");
      lines.torn = true;
      lines.torn_at = begin;
      break;
    }
    if (auto added = chain.add(line, begin, *parsed); !added) {
      if (added.error().kind == ErrorKind::kUsage)
        return fail(ErrorKind::kUsage, fmt::format("{}: {}.", where, added.error().message));
      return refused_line(where, added.error().message);
    }
    SOTTO_TRY(each(*parsed, where));
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

/// For whoever has not begun with anything yet: ends early when asked to.
Expected<Lines> read_lines_and_runs(std::string_view text,
                                    const std::string& path,
                                    const std::string& key,
                                    std::vector<JournalRun>& runs) {
  RunReader reader;
  SOTTO_ASSIGN(
      Lines lines,
      read_lines(text,
                 path,
                 key,
                 [&](const nlohmann::json& line, const std::string& where) -> Expected<void> {
                   if (stop_requested()) return stopped_early();
                   return reader.add(line, where);
                 }));
  runs = reader.take();
  return lines;
}

}  // namespace

Expected<Journal> Journal::open(const std::string& path,
                                const std::string& key,
                                const JournalCondition& condition) {
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
  JournalContent content;
  SOTTO_ASSIGN(Lines lines, read_lines_and_runs(text, path, key, content.runs));
  content.chains = std::move(lines.chains);
  content.bytes = std::ssize(text);
  if (condition) SOTTO_TRY(condition(content));
  if (lines.torn) SOTTO_TRY(journal.log_.cut(static_cast<std::int64_t>(lines.torn_at)));
  if (!lines.ended && !lines.torn) SOTTO_TRY(journal.log_.append("\n"));
  journal.head_ = lines.head;
  journal.bytes_ = content.bytes;
  if (const auto now = identity_of(journal.log_.descriptor(), path)) journal.seen_ = *now;
  return journal;
}

Expected<bool> Journal::holds_our_lines(bool what_they_say) {
  SOTTO_ASSIGN(const std::string text, log_.read(kMostJournalBytes));
  RunReader reader;
  Expected<void> said;
  // Also of a run that was asked to end: it does so once its last line is written.
  const auto lines =
      read_lines(text, path(), key_, [&](const nlohmann::json& line, const std::string& where) {
        if (what_they_say && said) said = reader.add(line, where);
        return Expected<void>();
      });
  if (!lines || (lines->torn && !log_.is_broken()) || lines->head.line != head_.line ||
      lines->head.chain != head_.chain)
    return false;
  SOTTO_TRY(said);
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
  return write(line);
}

Expected<void> Journal::confirm(Look look) {
  SOTTO_TRY(log_.check_name());
  const bool every_line = look == Look::kEveryLine;
  if (every_line) seen_.reset();
  return check_untouched(every_line);
}

// A closing line tells each event of the run's lines once.
Expected<void> Journal::append(const std::string& line) {
  const std::int64_t added = std::ssize(line) + kLongestClosing;
  if (bytes_ + added + (ours_ + added) > kMostJournalBytes)
    return fail(ErrorKind::kIo,
                fmt::format("{} has no room for a further line of this run: a journal of more than "
                            "{} MB is read by nobody. Nothing was released for the charge that the "
                            "journal refused.",
                            path(),
                            kMostJournalBytes >> 20));
  return write(line);
}

Expected<void> Journal::write(const std::string& line) {
  SOTTO_CHECK(line.ends_with('}') && line.find('\n') == std::string::npos);
  if (auto untouched = check_untouched(false); !untouched)
    return fail(untouched.error().kind,
                fmt::format("{} Nothing was released for the charge that the journal refused.",
                            untouched.error().message));
  const std::string body = fmt::format(
      "{},\"line\":{}", std::string_view(line).substr(0, line.size() - 1), head_.line + 1);
  const std::string chain = checksum(key_, head_.chain, body);
  const std::string whole =
      fmt::format("{}{}{}{}\n", body, key_.empty() ? kChain : kSeal, chain, kLineEnd);
  if (auto written = log_.append(whole); !written)
    return fail(written.error().kind,
                fmt::format("{} Nothing was released for the charge that the journal refused.",
                            written.error().message));
  head_ = {head_.line + 1, chain};
  bytes_ += std::ssize(whole);
  ours_ += std::ssize(whole);
  seen_ = log_.written();
  return {};
}

bool JournalContent::holds(const JournalHead& head) const {
  return head.line >= 1 && head.line <= std::ssize(chains) && !head.chain.empty() &&
         chains[static_cast<std::size_t>(head.line - 1)] == head.chain;
}

Expected<JournalContent> read_whole_journal(const std::string& path, const std::string& key) {
  SOTTO_ASSIGN(const std::string text, read_text_file(path, kMostJournalBytes, Source::kRegular));
  JournalContent content;
  SOTTO_ASSIGN(Lines lines, read_lines_and_runs(text, path, key, content.runs));
  content.chains = std::move(lines.chains);
  content.bytes = std::ssize(text);
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

Expected<bool> released_nothing(const JournalRun& run) {
  if (!run.closed) return false;
  SOTTO_ASSIGN(const CanonicalEvent charged, canonical(Event::compose(run.charged)));
  return charged.terms.empty();
}

Expected<void> check_journal_room(const JournalContent& journal, const std::string& path) {
  if (journal.bytes <= kMostJournalBytes - kRoomForARun) return {};
  return fail(
      ErrorKind::kUsage,
      fmt::format("the journal {} is nearly full: one of more than {} MB is read by nobody. "
                  "Name another model, whose journal is new, and keep this one: `sotto "
                  "account` adds up several.",
                  path,
                  kMostJournalBytes >> 20));
}

Expected<double> price(const JournalRun& run, double delta) {
  SOTTO_ASSIGN(const CanonicalEvent charged, canonical(Event::compose(run.charged)));
  if (auto granted = check_granted(run.promise, charged, run.samples); !granted)
    return granted.error().kind == ErrorKind::kBadData
               ? refused_line(run.where, granted.error().message)
               : tl::unexpected(granted.error());
  SOTTO_ASSIGN(const bool free, released_nothing(run));
  if (free) return 0.0;
  auto price = price_of_promise(run.promise, charged, delta);
  // At its own delta whoever asks has typed nothing wrong.
  if (!price && price.error().kind == ErrorKind::kUsage && delta == run.promise.budget.delta)
    return refused_line(run.where, price.error().message);
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
