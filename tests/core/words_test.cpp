// The rules for words (docs/style.md) that a program can check: no phrase that the rules replace,
// and lines of prose that a terminal shows whole.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// Rule 1 to 3 and 6: what is said, and what to say instead.
struct Phrase {
  std::regex said;
  const char* instead;
};

const std::vector<Phrase>& phrases() {
  static const std::vector<Phrase> all = {
      {std::regex(
           R"(\b(one|two|[0-9]+|lines?|runs?|bytes|cost|visitor|samples?|examples) an? )"
           R"((step|row|line|run|figure|class|batch|world|sample|second|unit|core|point|cell|)"
           R"(file|person|release|layer|example|coordinate)\b)"),
       "per"},
      {std::regex(R"(\bat hand\b)"), "what is meant: 'which we have', 'current', 'missing'"},
      {std::regex(R"(\b(be|is|was) had\b)"), "who does what: 'can't be fetched'"},
      {std::regex(R"(\b(and its|their) kin\b)"), "'the dp-tr family', 'and the like'"},
      {std::regex(R"(\bdear(er|est)?\b)"), "'expensive'"},
      {std::regex(R"(\b(goes|going|go) on from\b)"), "'resume'"},
      {std::regex(R"(\bin earnest\b)"), "nothing, or what is meant"},
      {std::regex(R"(\bnot hardly\b)"), "what happens"},
  };
  return all;
}

/// docs/style.md quotes what it replaces, and so does this file.
bool quotes_them(const std::string& name) {
  return name == "docs/style.md" || name == "tests/core/words_test.cpp";
}

std::vector<std::string> files_of(const std::set<std::string>& extensions) {
  std::vector<std::string> names;
  const fs::path root(SOTTO_SOURCE_DIR);
  for (const char* top : {"sotto", "apps", "docs", "examples", "studies", "tests", "benchmarks"})
    for (const auto& entry : fs::recursive_directory_iterator(root / top))
      if (entry.is_regular_file() && extensions.contains(entry.path().extension()))
        names.push_back(fs::relative(entry.path(), root));
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.is_regular_file() && extensions.contains(entry.path().extension()))
      names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// Calls `see` with every line of a file and its number.
template <class See>
void each_line(const std::string& name, See see) {
  std::ifstream in(fs::path(SOTTO_SOURCE_DIR) / name);
  int number = 0;
  for (std::string line; std::getline(in, line);) see(line, ++number);
}

std::size_t width(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

/// The first phrase of a line that the rules replace; null: none.
const Phrase* found_in(const std::string& line) {
  for (const Phrase& phrase : phrases())
    if (std::regex_search(line, phrase.said)) return &phrase;
  return nullptr;
}

TEST(Words, NoPhraseThatTheRulesReplace) {
  const auto names = files_of({".md", ".hpp", ".cpp", ".py", ".toml"});
  EXPECT_GT(names.size(), 600U);
  for (const auto& name : names) {
    if (quotes_them(name)) continue;
    each_line(name, [&](const std::string& line, int number) {
      if (const Phrase* phrase = found_in(line))
        ADD_FAILURE() << name << ":" << number << ": " << line << "\n  say " << phrase->instead;
    });
  }
}

TEST(Words, OldSentencesAreFound) {
  for (const char* line : {"One JSON line a figure",
                           "2 samples a second",
                           "the text at hand",
                           "if it can't be had",
                           "dp-tr and its kin",
                           "the dearer one",
                           "going on from run.ckpt",
                           "does not hardly depend"})
    EXPECT_NE(found_in(line), nullptr) << line;
  EXPECT_EQ(found_in("one line per figure, and a run has 20 steps"), nullptr);
}

/// Tables, code, formulas that are set apart and links have no shorter form.
TEST(Words, ProseFitsATerminal) {
  constexpr std::size_t kColumns = 100;
  int lines = 0;
  for (const auto& name : files_of({".md"})) {
    bool code = false;
    each_line(name, [&](const std::string& line, int number) {
      if (line.starts_with("```")) code = !code;
      const auto begin = line.find_first_not_of(' ');
      if (code || begin == line.npos || begin >= 4 || line[begin] == '|' || line[begin] == '#' ||
          line[begin] == '!' || line[begin] == '<')
        return;
      ++lines;
      if (line.find("](") != line.npos || line.find('`') != line.npos) return;
      EXPECT_LE(width(line), kColumns) << name << ":" << number;
    });
  }
  EXPECT_GT(lines, 2000);
}

}  // namespace
