#pragma once

// How the lines of a journal make up runs. Internal to privacy/.

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sotto/core/keyed_hash.hpp"
#include "sotto/privacy/journal.hpp"

namespace sotto {

/// What is said of a journal's line that can't stand where it does; `where`: file and number.
tl::unexpected<Error> refused_line(const std::string& where, const std::string& why);

/// Puts lines together to runs, each in time that depends on the line, not on those before it.
class RunReader {
 public:
  /// An error says why the line can't stand where it does.
  Expected<void> add(const nlohmann::json& line, const std::string& where);
  std::vector<JournalRun> take();

 private:
  /// Of one kind of release: how many were charged, and how many of these the last line that
  /// reserved some may have reserved in vain. A group is reserved when its first release is asked
  /// for, and only once the group before it is used up.
  struct Charged {
    std::int64_t count = 0;
    std::int64_t spare = 0;
  };
  using Counts = std::map<Term, Charged, TermOrder>;
  /// What is known of a run beside what its reader is told.
  struct Tally {
    Counts counts;
    bool resumed = false;
    std::int64_t most_samples = 1;  ///< noise samples that one of its charges drew
    std::int64_t planned = 0;       ///< releases
  };

  Expected<void> add_to_run(const nlohmann::json& line, const std::string& where);
  Expected<void> open(const nlohmann::json& line, const std::string& where);
  Expected<void> resume(const nlohmann::json& line);
  Expected<void> close(const nlohmann::json& line);
  Expected<void> charge(const nlohmann::json& line);
  /// How many of each kind a line states: at most what was charged before it.
  Expected<Counts> state(const nlohmann::json& line, const char* name);

  std::vector<JournalRun> runs_;
  std::vector<Tally> tallies_;
  std::unordered_map<std::string, std::size_t, KeyedHash, std::equal_to<>> by_name_;
  std::optional<std::size_t> current_;
};

}  // namespace sotto
