// Help, man pages, completions, and what is said of mistyped words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "sotto/core/option_names.hpp"
#include "sotto/core/version.hpp"
#include "sotto/optimizer/registry.hpp"
#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The verbs that some help lists.
std::vector<std::string> verbs_in(const std::string& help) {
  std::vector<std::string> verbs;
  std::istringstream lines(help.substr(help.find("\nSubcommands:\n") + 1));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  "))
    verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
  return verbs;
}

/// Every verb as it is typed, those of `data` and `schema` among them.
std::vector<Words> all_verbs() {
  std::vector<Words> all;
  for (const std::string& verb : verbs_in(sotto({"--help"}).out)) all.push_back({verb});
  for (const char* of : {"data", "schema"})
    for (const std::string& verb : verbs_in(sotto({of, "--help"}).out)) all.push_back({of, verb});
  return all;
}

struct Mistyped {
  const char* name;
  Words words;
  const char* says;  ///< in the first line
};
void PrintTo(const Mistyped& mistyped, std::ostream* out) { *out << mistyped.name; }

class MistypedWords : public ::testing::TestWithParam<Mistyped> {};

TEST_P(MistypedWords, TheFirstLineSaysWhatToType) {
  const auto run = sotto(GetParam().words);
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(first_line(run.err), HasSubstr(GetParam().says));
}

const Words kPriced =
    "train --dry-run --dim 2 --row-norm 1 --public-n 100 --epsilon 1 --delta 1e-5";
const Words kNetwork = "train --dry-run --dim 2 --method dp-sgd --epsilon 1 --delta 1e-5";

INSTANTIATE_TEST_SUITE_P(
    All,
    MistypedWords,
    ::testing::Values(
        Mistyped{"verb", "trian", "no verb 'trian'. Did you mean 'train'?"},
        Mistyped{"verb_with_options", "trian --epsilon 1", "Did you mean 'train'?"},
        Mistyped{"subverb", "data chekc", "data has no verb 'chekc'. Did you mean 'check'?"},
        Mistyped{"subverb_of_schema", "schema chekc", "schema has no verb 'chekc'. Did you mean"},
        Mistyped{"no_schema", "schema check", "check needs SCHEMA"},
        Mistyped{"no_verb", {}, "needs a verb: train, predict"},
        Mistyped{"no_subverb", "data", "data needs a verb: info"},
        Mistyped{"far_verb", "fly", "no verb 'fly'. It has train"},
        Mistyped{"option",
                 "train --epsilom 1",
                 "train has no option --epsilom. Did you mean --epsilon?"},
        Mistyped{"option_with_value", "train --detla=1", "Did you mean --delta?"},
        Mistyped{"one_dash", "train -epsilon 1", "Did you mean --epsilon?"},
        Mistyped{"beginning_of_option", "train --eps 1", "Did you mean --epsilon?"},
        Mistyped{"batch_size", "train --batch-size 64", "Did you mean --expected-batch?"},
        Mistyped{"learning_rate", "train --learning-rate 1", "Did you mean --step-size?"},
        Mistyped{"short_version", "-v", "Did you mean --version?"},
        Mistyped{"softmax", kPriced + "--loss softmax", "Did you mean 'multinomial'?"},
        Mistyped{"widths", kNetwork + "--model mpl:32", "Did you mean 'mlp:32'?"},
        Mistyped{"method_without_dash", kPriced + "--method dpsgd", "Did you mean 'dp-sgd'?"},
        Mistyped{"help_for_a_method", "help dp-sgd", "`sotto methods dp-sgd` describes it"},
        Mistyped{"journal_as_argument", "account m.json.journal", "named with --journal FILE"},
        Mistyped{"far_option", "train --magic", "train has no option --magic."},
        // Not that --epsilon is missing.
        Mistyped{"required_option", "calibrate --epsilno 1 --delta 1e-5", "mean --epsilon?"},
        Mistyped{"option_of_subverb", "data info --shcema x y", "Did you mean --schema?"},
        Mistyped{"no_files",
                 "predict",
                 "predict needs DATA, MODEL and OUTPUT: sotto predict [OPTIONS] DATA MODEL OUTPUT"},
        Mistyped{"no_output", "predict a.csv m.json", "predict needs OUTPUT: sotto predict"},
        Mistyped{"no_shell", "completion", "completion needs SHELL: sotto completion"},
        Mistyped{"no_target", "calibrate", "calibrate needs --epsilon and --delta."},
        Mistyped{"too_many", "demo here", "demo takes no further argument, but is given 'here'"},
        Mistyped{"method", kPriced + "--method dp-gdd", "Did you mean 'dp-gd'?"},
        Mistyped{"methods_page", "methods dp-sdg", "Did you mean 'dp-sgd'?"},
        Mistyped{"choice",
                 kPriced + "--method dp-sgd --sampling poison",
                 "--sampling must be one of poisson|fixed_size, but is 'poison'. Did you mean "
                 "'poisson'?"},
        Mistyped{"relation", kPriced + "--neighbours replaceone", "Did you mean 'replace-one'?"},
        Mistyped{"network", kNetwork + "--model sofmax", "Did you mean 'softmax'?"},
        Mistyped{"far_network", kNetwork + "--model deep", "softmax, mlp:64,32"},
        Mistyped{"accountant", kPriced + "--accountant gausian", "Did you mean 'gaussian'?"},
        Mistyped{"loss", kPriced + "--loss hubber:2", "Did you mean 'huber'?"},
        Mistyped{"format", kPriced + "--format libsmv", "Did you mean 'libsvm'?"},
        Mistyped{"help", "help trian", "Did you mean 'train'?"},
        Mistyped{"help_subverb", "help data fecth", "Did you mean 'fetch'?"},
        Mistyped{"help_of_method", "train --help --method dp-gdd", "Did you mean 'dp-gd'?"},
        Mistyped{"data_set", "data fetch minst", "Did you mean 'mnist'?"},
        Mistyped{"study", "reproduce srm-tabel2", "Did you mean 'srm-table2'?"},
        Mistyped{"shell", "completion fihs", "Did you mean 'fish'?"}),
    [](const auto& instance) { return instance.param.name; });

TEST(Help, AfterItsVerb) {
  const auto run = sotto("train help");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, sotto("help train").out);
  EXPECT_EQ(sotto("data fetch help").out, sotto("help data fetch").out);
}

/// The header of a file that has none after all is somebody's row: the nearest of its names is told
/// by its place.
TEST(Mistyped, AHeaderIsNeverQuoted) {
  const TempDir dir;
  const std::string schema = dir.write("schema.toml", R"([file]
header = true
[[column]]
name = "sick"
kind = "label"
positive = "yes"
negative = "no"
[[column]]
name = "weight"
kind = "numeric"
min = 0
max = 200
)");
  const auto train = [&](const std::string& header) {
    const std::string rows = dir.write("rows.csv", header + "\n70,yes\n60,no\n");
    return sotto({"train --epsilon 1 --delta 1e-5 --schema", schema, rows, dir.file("m")});
  };
  const auto near = train("weigth,sick");
  EXPECT_EQ(near.code, 3);
  EXPECT_THAT(near.err,
              AllOf(HasSubstr("no column 'weight'"),
                    HasSubstr("column 1 of it has nearly that name"),
                    Not(HasSubstr("weigth"))));
  const auto far = train("height,sick!");
  EXPECT_EQ(far.code, 3);
  EXPECT_THAT(far.err,
              AllOf(HasSubstr("no column 'sick'"), HasSubstr("column 2 of it has nearly")));
  const auto unlike = train("age,sick");
  EXPECT_EQ(unlike.code, 3);
  EXPECT_THAT(unlike.err, AllOf(HasSubstr("no column 'weight'"), Not(HasSubstr("nearly"))));
}

TEST(MethodOptions, OfAnotherMethodAreRefusedByName) {
  const auto run = sotto(kPriced + "--method dp-gd --sampling poisson");
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("dp-gd has no option --sampling. It is one of dp-sgd, "),
                    HasSubstr("dp-gd has --steps, --step-size")));
}

TEST(Help, OfAVerbIsTheSameEitherWayAndEndsWithTheVerb) {
  const auto verbs = all_verbs();
  ASSERT_GT(verbs.size(), 15u);
  for (const Words& verb : verbs) {
    const auto asked = sotto(verb + "--help");
    std::string path = "sotto";
    for (const std::string& word : verb) path += " " + word;
    ASSERT_EQ(asked.code, 0) << path;
    EXPECT_EQ(asked.out, sotto("help" + verb).out) << path;
    EXPECT_THAT(asked.out, HasSubstr("Usage: " + path)) << path;
    EXPECT_THAT(asked.out, Not(HasSubstr("Start here"))) << path;
    // Behind the last option something is said: an example, or what to know.
    EXPECT_THAT(asked.out.substr(asked.out.rfind("\n  -") + 1), HasSubstr("\n\n")) << path;
  }
  EXPECT_EQ(sotto({"help"}).out, sotto({"--help"}).out);
  const auto without = sotto({"help predict --method dp-gd"});
  EXPECT_EQ(without.code, 2);
  EXPECT_THAT(without.err, HasSubstr("sotto predict has no option --method"));
  EXPECT_THAT(sotto({"--help"}).out, HasSubstr("Start here"));
}

// A flag's value that is none is a mistake of whoever typed it, also where help is asked for.
TEST(Help, WithAValueIsNoInternalError) {
  for (const Words& verb : all_verbs())
    for (const char* help : {"--help=inf", "--help=x", "--help=false", "--help=", "-h=x"}) {
      const auto run = sotto(verb + help);
      EXPECT_THAT(run.code, ::testing::AnyOf(0, 2)) << verb.back() << help << run.err;
      EXPECT_THAT(run.err, Not(HasSubstr("internal error"))) << verb.back() << help;
    }
  for (const char* verb : {"train", "calibrate", "audit"}) {
    const auto run = sotto({verb, "--help=inf"});
    EXPECT_EQ(run.code, 2) << verb;
    EXPECT_EQ(run.out, "") << verb;
    EXPECT_THAT(first_line(run.err), HasSubstr("--help")) << verb;
  }
  EXPECT_THAT(sotto({"train --bias=x --help"}).code, ::testing::AnyOf(0, 2));
  EXPECT_THAT(sotto({"--help=inf"}).code, ::testing::AnyOf(0, 2));
  EXPECT_THAT(sotto({"--version=inf"}).code, ::testing::AnyOf(0, 2));
}

TEST(Help, ShowsTheOptionsOfTheMethodThatIsNamed) {
  for (const char* verb : {"train", "calibrate", "audit"}) {
    const auto common = sotto({verb, "--help"});
    EXPECT_THAT(common.out,
                AllOf(HasSubstr("dp-gd, the default method, has --steps"),
                      HasSubstr("--method NAME --help"),
                      Not(HasSubstr("\n  --expected-batch"))));
    EXPECT_LT(std::count(common.out.begin(), common.out.end(), '\n'), 110) << verb;
    const auto one = sotto({verb, "--help --method dp-sgd"});
    EXPECT_EQ(one.out, sotto({verb, "--method=dp-sgd --help"}).out);
    EXPECT_EQ(one.out, sotto({"help", verb, "--method dp-sgd"}).out);
    EXPECT_THAT(sotto({"help", verb, "--method dp-sdg"}).err, HasSubstr("mean 'dp-sgd'?"));
    EXPECT_THAT(one.out,
                AllOf(HasSubstr("Options of dp-sgd:"),
                      HasSubstr("\n  --expected-batch,--batch integer"),
                      HasSubstr("(default poisson)"),
                      Not(HasSubstr("--curvature-tolerance"))));
  }
}

TEST(Help, OfEveryMethodListsItsOptionsAndNoOthers) {
  std::set<std::string> all;
  for (const auto& method : methods())
    for (const auto& option : method.options) all.insert(flag_of(option.name));
  for (const auto& method : methods()) {
    const auto help = sotto({"calibrate --help --method", method.name});
    ASSERT_EQ(help.code, 0) << method.name;
    std::set<std::string> own;
    for (const auto& option : method.options) own.insert(flag_of(option.name));
    for (const auto& option : all) {
      const bool listed = help.out.find("\n  " + option + " ") != help.out.npos ||
                          help.out.find("\n  " + option + ",") != help.out.npos;
      EXPECT_EQ(listed, own.contains(option)) << method.name << " " << option;
    }
  }
}

TEST(Version, SaysWhatWasBuilt) {
  EXPECT_EQ(sotto({"--version"}).out, std::string("sotto ") + kVersion + "\n");
  EXPECT_THAT(sotto({"version"}).out,
              AllOf(StartsWith(std::string("sotto ") + kVersion + "\n"), HasSubstr("compiler")));
  const auto json = nlohmann::json::parse(sotto({"version --json"}).out);
  EXPECT_EQ(json["version"], kVersion);
  EXPECT_TRUE(json["avx2"].is_boolean());
  EXPECT_EQ(json["accountants"].size(), 4u);
  EXPECT_EQ(json["methods"], methods().size());
  EXPECT_FALSE(json["compiler"].get<std::string>().empty());
  EXPECT_FALSE(json["build"].get<std::string>().empty());
}

/// What bash offers behind these words; the last one is being typed.
std::string completed(const Words& words) {
  std::string line = "source <(" + shell_line({"completion bash"}) + "); COMP_WORDS=(";
  for (const std::string& word : words) line += testing::quoted(word) + " ";
  line += "); COMP_CWORD=" + std::to_string(words.size() - 1) +
          R"(; _sotto; printf '%s\n' "${COMPREPLY[@]}")";
  const auto run = in_a_shell([&](const std::string& redirected) {
    return "bash --norc -c " + testing::quoted(line) + redirected;
  });
  EXPECT_EQ(run.err, "");
  return run.out;
}

TEST(Completion, OfBash) {
  EXPECT_EQ(completed({"sotto", std::string("tr")}), "train\n");
  EXPECT_EQ(completed({"sotto data", std::string("f")}), "fetch\n");
  EXPECT_EQ(completed({"sotto train --epsi"}), "--epsilon\n");
  EXPECT_EQ(completed({"sotto train --epsilon 1 --expected-b"}), "--expected-batch\n");
  EXPECT_EQ(completed({"sotto train --method dp-sg"}), "dp-sgd\n");
  EXPECT_EQ(completed({"sotto train --sampling", std::string("")}), "poisson\nfixed_size\n");
  EXPECT_EQ(completed({"sotto train --schema", std::string("")}), "\n") << "bash takes files";
  EXPECT_EQ(completed({"sotto train", std::string("")}), "\n");
  EXPECT_EQ(completed({"sotto data fetch mni"}), "mnist\n");
  EXPECT_EQ(completed({"sotto methods dp-fw-l"}), "dp-fw-l2\ndp-fw-l1\n");
  EXPECT_EQ(completed({"sotto account --epsilon 1 --neighbours z"}), "zero-out\n");
  EXPECT_EQ(completed({"sotto completion z"}), "zsh\n");
  EXPECT_EQ(completed({"sotto help calib"}), "calibrate\n");
}

TEST(Completion, OfEveryShellKnowsEveryVerb) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = sotto({"completion", shell});
    ASSERT_EQ(script.code, 0) << shell;
    for (const Words& verb : all_verbs()) EXPECT_THAT(script.out, HasSubstr(verb.back())) << shell;
    for (const auto& method : methods()) EXPECT_THAT(script.out, HasSubstr(method.name)) << shell;
    if (std::system(("command -v " + std::string(shell) + " >/dev/null").c_str()) != 0) continue;
    const TempDir dir;
    const auto checked = in_a_shell([&](const std::string& redirected) {
      return shell + (" -n " + testing::quoted(dir.write("script", script.out))) + redirected;
    });
    EXPECT_EQ(checked.code, 0) << shell << checked.err;
  }
}

TEST(ManPages, AreWrittenForEveryVerbWithTheCompletions) {
  const TempDir dir;
  const auto run = sotto({"help --share", dir.file("share")});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string pages = dir.file("share/man/man1/");
  EXPECT_TRUE(fs::exists(pages + "sotto.1"));
  for (const Words& verb : all_verbs()) {
    std::string name = "sotto";
    for (const std::string& word : verb) name += "-" + word;
    EXPECT_EQ(TempDir::read(pages + name + ".1"), sotto("help --man" + verb).out) << name;
  }
  for (const char* file : {"bash-completion/completions/sotto",
                           "zsh/site-functions/_sotto",
                           "fish/vendor_completions.d/sotto.fish"})
    EXPECT_TRUE(fs::exists(dir.file("share/") + file)) << file;
}

TEST(ManPages, AreSetByGroffWithoutAWarning) {
  if (std::system("command -v groff >/dev/null") != 0) GTEST_SKIP() << "groff is not installed";
  const TempDir dir;
  ASSERT_EQ(sotto({"help --share", dir.file("share")}).code, 0);
  for (const auto& page : fs::directory_iterator(dir.file("share/man/man1"))) {
    const auto set = in_a_shell([&](const std::string& redirected) {
      return "groff -man -Tutf8 -ww -P-cbou " + testing::quoted(page.path().string()) + redirected;
    });
    EXPECT_EQ(set.code, 0) << page.path();
    EXPECT_EQ(set.err, "") << page.path();
    EXPECT_THAT(set.out, AllOf(HasSubstr("SYNOPSIS"), HasSubstr("EXIT STATUS"))) << page.path();
    if (page.path().filename() == "sotto-train.1") {
      EXPECT_THAT(set.out, AllOf(HasSubstr("--epsilon"), HasSubstr("--curvature-tolerance")));
    }
  }
}

// CLI11 would take the next word, and a run that was to be planned would be paid for.
TEST(Mistakes, AnOptionWithoutAValueTakesNoOption) {
  const TempDir dir;
  const std::string rows = dir.write("rows.svm", "1 1:1\n-1 1:0.5\n");
  const std::string model = dir.file("m.json");
  const Words train = {"train --method dp-gd --epsilon 1 --delta 1e-3 --dim 1 --row-norm 1"};
  for (const Words& words : {Words{"--record= --dry-run"},
                             Words{"--record --dry-run"},
                             Words{"--dry-run --record", std::string()},
                             Words{"--dry-run --loss="},
                             Words{"--test -q --dry-run"}}) {
    const auto run = sotto(train + words + Words{rows, model});
    EXPECT_EQ(run.code, 2) << run.err << ::testing::PrintToString(words);
    EXPECT_THAT(run.err, HasSubstr("value")) << ::testing::PrintToString(words);
    EXPECT_FALSE(fs::exists(model + ".journal"));
  }
  // A flag stands for itself, and a value that is meant can be given.
  EXPECT_EQ(sotto(train + Words{"--json --dry-run --public-n 2", rows, model}).code, 0);
  const auto odd = sotto(train + Words{"--dry-run --constraint=-odd", rows, model});
  EXPECT_THAT(odd.err, HasSubstr("'-odd'"));
  EXPECT_THAT(odd.err, Not(HasSubstr("needs a value")));
}

TEST(Mistakes, AConfigurationFilesFlagsAreFlags) {
  const TempDir dir;
  const std::string rows = dir.write("rows.svm", "1 1:1\n-1 1:0.5\n");
  const std::string model = dir.file("m.json");
  for (const char* line : {"record = true",
                           "journal-key = false",
                           "checkpoint = true",
                           "steps = false",
                           "loss = true"}) {
    const std::string config = dir.write(
        "c.toml", "epsilon = 1\ndelta = 1e-3\ndim = 1\nrow-norm = 1\n" + std::string(line) + "\n");
    const auto run = sotto({"train --config", config, "--dry-run --public-n 2", rows, model});
    EXPECT_EQ(run.code, 2) << line << run.out << run.err;
    EXPECT_FALSE(fs::exists(model + ".journal"));
  }
}

TEST(Mistakes, NumbersBeyondTheirRangeAreRefused) {
  for (const Words& words : {Words{"train --dry-run --public-n 18446744073709552016"},
                             Words{"train --seed 99999999999999999999"},
                             Words{"train --seed -1"},
                             Words{"predict --top 9223372036854775808 a b c"},
                             Words{"predict --sort-memory 0 a b c"}}) {
    const auto run = sotto(words);
    EXPECT_EQ(run.code, 2) << run.err;
    EXPECT_LT(run.err.size(), 300U) << run.err;
  }
}

TEST(Mistakes, AnOptionWithoutANameIsNoInternalError) {
  for (const Words& words : {Words{"train --=1"}, Words{"account --="}, Words{"predict ---"}})
    EXPECT_EQ(sotto(words).code, 2) << ::testing::PrintToString(words);
}

}  // namespace
}  // namespace sotto::testing
