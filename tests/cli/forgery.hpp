#pragma once

// Records of honest runs, and whether a change of them is found.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sotto/audit/verify_copies.hpp"
#include "tests/support/command.hpp"
#include "tests/support/persons.hpp"

namespace sotto::testing {

struct Files {
  nlohmann::json record;
  nlohmann::json model;
  JournalContent journal;
};

/// Two rows of each person.
inline std::string person_rows(int n = 200) {
  std::string text = "who,x,y\n";
  for (int i = 0; i < n; ++i)
    text += "p" + std::to_string(i / 2) + (i % 2 == 0 ? ",0.7,sick\n" : ",-0.6,well\n");
  return text;
}

inline bool has_word(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The command that trains a model.json with a run.json in this folder. DIR in a word is the
/// folder. It has rows.svm (two features); persons.csv with persons.toml, which --schema asks for;
/// and a polytope p.txt.
inline Words training(const TempDir& dir, Words method) {
  dir.write("p.txt", "1 0\n0 1\n-1 -1\n");
  dir.write("persons.toml", kPersons);
  for (std::string& word : method)
    if (const std::size_t at = word.find("DIR/"); at != std::string::npos)
      word = word.substr(0, at) + dir.file(word.substr(at + 4));
  const bool persons = has_word(method, "--schema");
  Words words = "train --quiet --delta 1e-5" + method;
  if (!persons) words += "--dim 2";
  if (has_word(method, "--model"))
    words += persons ? Words{} : Words{"--classes -1,1"};
  else if (!persons)
    words += "--row-norm 1.5";
  return words + Words{"--record",
                       dir.file("run.json"),
                       persons ? dir.write("persons.csv", person_rows())
                               : dir.write("rows.svm", small_libsvm(200)),
                       dir.file("model.json")};
}

inline Files trained(const TempDir& dir, const Words& method) {
  const CommandResult result = sotto(training(dir, method));
  EXPECT_EQ(result.code, 0) << result.err;
  return {nlohmann::json::parse(TempDir::read(dir.file("run.json"))),
          nlohmann::json::parse(TempDir::read(dir.file("model.json"))),
          read_whole_journal(dir.file("model.json.journal")).value()};
}

inline bool contradicts(const std::vector<RecordCheck>& checks) {
  for (const RecordCheck& check : checks)
    if (check.outcome == RecordCheck::Outcome::kContradiction) return true;
  return false;
}

/// By the record alone.
inline bool found_alone(const nlohmann::json& record) {
  const auto result = verify_record(record);
  return !result || result->contradicts();
}

/// By the record, its journal and its model. The cheap ones are asked first.
inline bool found(const Files& files) {
  if (contradicts(check_model(files.record, files.model))) return true;
  const auto by_journal = check_journal(files.record, files.journal);
  return !by_journal || contradicts(*by_journal) || found_alone(files.record);
}

}  // namespace sotto::testing
