#include "sotto/study/papers.hpp"

#include <utility>

#include "sotto/core/file.hpp"
#include "sotto/study/toml_reader.hpp"

namespace sotto::study {
namespace {

/// `lower = "DP-SRM", than = "DP-GD"` and the like: the key that is there says what is asked.
Expected<TestSpec> read_test(const toml::table& table, const std::string& file) {
  using Kind = TestSpec::Kind;
  static constexpr std::pair<const char*, Kind> kinds[] = {{"lower", Kind::kLower},
                                                           {"higher", Kind::kHigher},
                                                           {"within_stated", Kind::kSpends},
                                                           {"as_printed", Kind::kPrinted},
                                                           {"falls", Kind::kFalls},
                                                           {"rises", Kind::kRises},
                                                           {"steady", Kind::kSteady},
                                                           {"widens", Kind::kWidens},
                                                           {"reaches", Kind::kAtLeast},
                                                           {"stays_below", Kind::kAtMost},
                                                           {"slope", Kind::kSlope}};
  TomlTable toml(table, file, "a test of [[paper.claim]]");
  TestSpec test;
  int found = 0;
  for (const auto& [key, kind] : kinds)
    if (toml.has(key)) {
      test.kind = kind;
      test.row = toml.required(key);
      ++found;
    }
  if (found != 1)
    toml.complain(
        "give exactly one of lower, higher, within_stated, as_printed, falls, rises, steady, "
        "widens, "
        "reaches, stays_below, slope.");
  test.in = toml.required("in");
  const bool recipe = test.kind == Kind::kSpends || test.kind == Kind::kPrinted;
  test.arm = recipe ? Way::kRecipe : Way::kBest;
  if (toml.has("arm")) test.arm = toml.word("arm", kWays);
  test.than = toml.text("than");
  test.than_arm = toml.has("than_arm") ? toml.word("than_arm", kWays) : test.arm;
  test.group = toml.text("group");
  test.data = toml.text("data");
  test.epsilon = toml.number("epsilon");
  test.x = toml.number("x");
  if (test.kind != Kind::kSpends && test.kind != Kind::kSlope)
    test.measure = toml.required("measure");
  if (test.follows()) test.along = toml.word("along", kAxes);
  if (is_of_curves(test.along)) toml.complain("'along' is x or epsilon.");
  if (test.kind == Kind::kWidens && test.than.empty()) toml.complain("'than' is missing: a row.");
  if (test.kind == Kind::kAtLeast || test.kind == Kind::kAtMost) {
    const auto bound = toml.number("bound");
    if (!bound) toml.complain("'bound' is missing.");
    test.bound = bound.value_or(0);
  }
  if ((test.kind == Kind::kLower || test.kind == Kind::kHigher) && test.than.empty() &&
      test.arm == test.than_arm)
    toml.complain("'than' is missing: a row, or than_arm for the same cell's other arm.");
  SOTTO_TRY(toml.finish());
  return test;
}

Expected<ClaimSpec> read_claim(TomlTable& toml, const std::string& file) {
  ClaimSpec claim;
  claim.item = toml.required("item");
  claim.claim = toml.required("claim");
  claim.argued = toml.text("argued");
  claim.absent = toml.text("absent");
  claim.see = toml.texts("see");
  for (const toml::table* table : toml.tables("tests")) {
    SOTTO_ASSIGN(TestSpec test, read_test(*table, file));
    claim.tests.push_back(std::move(test));
  }
  const int answers = static_cast<int>(!claim.tests.empty()) +
                      static_cast<int>(!claim.argued.empty()) +
                      static_cast<int>(!claim.absent.empty());
  if (answers != 1)
    toml.complain("give one of tests (cells decide), argued (no cell can) or absent.");
  SOTTO_TRY(toml.finish());
  return claim;
}

}  // namespace

Expected<std::vector<PaperSpec>> parse_papers(std::string_view text, const std::string& name) {
  SOTTO_ASSIGN(const toml::table whole, parse_toml(text, name));
  TomlTable toml(whole, name, "the file");
  std::vector<PaperSpec> papers;
  for (const toml::table* table : toml.tables("paper")) {
    TomlTable one(*table, name, "[[paper]]");
    PaperSpec paper;
    paper.key = one.text("key");
    paper.title = one.required("title");
    paper.reproductions = one.texts("reproductions");
    for (const toml::table* inner : one.tables("claim")) {
      TomlTable claim(*inner, name, "[[paper.claim]]");
      SOTTO_ASSIGN(ClaimSpec read, read_claim(claim, name));
      paper.claims.push_back(std::move(read));
    }
    SOTTO_TRY(one.finish());
    papers.push_back(std::move(paper));
  }
  SOTTO_TRY(toml.finish());
  return papers;
}

Expected<std::vector<PaperSpec>> load_papers(const std::string& folder) {
  const std::string path = folder + "/papers.toml";
  SOTTO_ASSIGN(const std::string text, read_text_file(path));
  return parse_papers(text, path);
}

}  // namespace sotto::study
