// Every number that a method takes, far outside all reason: an answer, or a refusal before anything
// is charged.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "sotto/core/option_names.hpp"
#include "sotto/optimizer/registry.hpp"
#include "tests/faults/trial.hpp"

namespace sotto::testing {
namespace {

std::vector<std::string> absurd(const std::string& type) {
  if (type == "number") return {"1e308", "1e-308", "1e60", "1e-60", "-1", "inf", "nan"};
  if (type == "integer") return {"9223372036854775807", "1000000000", "0", "-1"};
  return {};
}

bool takes_a_set(const std::string& method) {
  static const std::set<std::string> kMethods = {"dp-pgd", "dp-pmd", "dp-fw-l2", "dp-fw-l1"};
  return kMethods.contains(method);
}

Words command(const Trial& trial, const std::string& method, const Words& more) {
  Words words = {"train --method", method, "--delta 1e-5 --dim 2 --threads 1 --quiet"};
  if (takes_a_set(method)) words += "--constraint l1:1";
  words += more;
  words.push_back(trial.file("rows.svm"));
  words.push_back(trial.file("model.json"));
  return words;
}

void expect_answer_or_refusal(const std::string& method, const Words& more) {
  const Trial trial("dp-sgd");
  FaultyDisk sound;
  const Outcome outcome = trial.run_on(sound, command(trial, method, more));
  const std::string what = fmt::format("{} {}", method, fmt::join(more, " "));
  trial.expect_accounted(outcome, outcome.released, what);
  const bool ran = outcome.code == 0 || outcome.code == 1;  // 1: the weights diverged
  if (ran) return;
  const std::string journal = TempDir::read(trial.file("model.json.journal"));
  EXPECT_EQ(journal.find("\"charge\""), journal.npos) << what << ": " << outcome.err;
  EXPECT_EQ(outcome.released, 0) << what;
}

TEST(AbsurdNumbers, OfEveryOptionOfEveryMethod) {
  int tried = 0;
  for (const MethodInfo& method : methods()) {
    if (!method.is_private) continue;
    bool has_steps = false;
    for (const OptionInfo& option : method.options) has_steps |= option.name == "steps";
    for (const OptionInfo& option : method.options)
      for (const std::string& value : absurd(option.type)) {
        const bool is_length = option.name == "steps" || option.name == "epochs";
        Words words = {"--epsilon 1 --row-norm 1.5"};
        if (has_steps && !is_length) words += "--steps 2";
        words.push_back(flag_of(option.name) + "=" + value);
        expect_answer_or_refusal(method.name, words);
        ++tried;
      }
  }
  EXPECT_GT(tried, 1000);
}

TEST(AbsurdNumbers, OfBudgetsNoiseAndRows) {
  for (const MethodInfo& method : methods()) {
    if (!method.is_private) continue;
    for (const char* value : {"1e308", "1e300", "1e60", "1e10", "1e-10", "1e-60", "1e-300", "0"}) {
      expect_answer_or_refusal(method.name, {"--row-norm 1.5 --epsilon", value});
      expect_answer_or_refusal(method.name, {"--row-norm", value, "--epsilon 1"});
      expect_answer_or_refusal(method.name, {"--row-norm 1.5 --noise-multiplier", value});
    }
  }
}

}  // namespace
}  // namespace sotto::testing
