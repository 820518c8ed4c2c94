#pragma once

// Journals for tests: what they say, line by line, and what their runs cost.

#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "sotto/core/digest.hpp"
#include "sotto/privacy/journal.hpp"
#include "sotto/privacy/ledger.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto::testing {

inline constexpr Relation kRelation = Relation::kZeroOut;

/// A file that version 0.1 wrote.
inline std::string golden(const std::string& name) {
  return std::string(SOTTO_SOURCE_DIR) + "/tests/privacy/golden/v0_1/" + name;
}

/// The prices of all runs, each at its own delta.
inline std::vector<double> prices(const std::string& path) {
  const auto runs = read_journal(path);
  EXPECT_TRUE(runs) << runs.error().message;
  std::vector<double> all;
  if (runs)
    for (const auto& run : *runs) all.push_back(*price(run, run.promise.budget.delta));
  return all;
}

inline LedgerOptions planned(const TempDir& dir, double epsilon = 2) {
  LedgerOptions options;
  options.budget = {epsilon, 1e-5};
  options.plan = Event::repeat(20, Event::gaussian(9, kRelation));
  options.planned_samples = 40;
  options.journal_path = dir.file("m.journal");
  return options;
}

/// Without numbers and checksums, for edits that recompute them.
inline std::string unchained(const std::string& text) {
  static const std::regex kEnd(R"x(,"line":\d+,"(chain|seal)":"[0-9a-f]{64}"\})x");
  return std::regex_replace(text, kEnd, "}");
}

inline std::vector<std::string> whole_lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}
/// Unchained.
inline std::vector<std::string> lines_of(const std::string& text) {
  return whole_lines_of(unchained(text));
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

/// With numbers and checksums that fit, from the first run on that states its rule: what an edit
/// means must be found without them. Lines of version 0.1 before it have none.
inline std::string chained_anew(const std::string& text) {
  std::string all, chain;
  int number = 0;
  bool is_new = false;
  for (const std::string& line : lines_of(text)) {
    ++number;
    if (!is_new && line.find("\"rule\":") != std::string::npos) {
      is_new = true;
      chain = all.empty() ? "" : sha256(all);
    }
    if (!is_new) {
      all += line + "\n";
      continue;
    }
    const std::string body =
        line.substr(0, line.size() - 1) + ",\"line\":" + std::to_string(number);
    chain = sha256(chain + "\n" + body);
    all += body + ",\"chain\":\"" + chain + "\"}\n";
  }
  return all;
}

}  // namespace sotto::testing
