// Rows that do not fit what is declared, from the outside: refused by default, unseen with
// --no-refusals.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "tests/support/array_files.hpp"
#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kMisfitRows = 40;
constexpr int kChanged = 7;

/// kMisfitRows rows, in turns those of `rows`; row kChanged is `changed`, unless that is empty.
std::string joined(const std::string& head,
                   const std::vector<std::string>& rows,
                   const std::string& changed) {
  std::string text = head;
  for (int i = 0; i < kMisfitRows; ++i)
    text += i == kChanged && !changed.empty() ? changed
                                              : rows[static_cast<std::size_t>(i) % rows.size()];
  return text;
}

struct Seen {
  int code;
  std::string out, err;
  bool operator==(const Seen&) const = default;
};

void PrintTo(const Seen& run, std::ostream* out) { *out << run.code << "\n" << run.out << run.err; }

/// How fast a network is here is nothing of the rows, and never twice the same.
Seen seen(const CommandResult& run) {
  std::string err;
  std::istringstream lines(run.err);
  for (std::string line; std::getline(lines, line);)
    if (line.find("examples per second") == line.npos) err += line + "\n";
  return {run.code, run.out, err};
}

class Misfit : public ::testing::Test {
 protected:
  Seen train(const Words& options, const std::string& data) const {
    const Words words = "train --epsilon 1 --delta 1e-4 --steps 3 --seed 1" + options +
                        Words{data, dir_.file("m.json")};
    for (const char* name : {"m.json", "m.json.journal"}) std::filesystem::remove(dir_.file(name));
    return seen(sotto(words));
  }
  Seen info(const Words& options, const std::string& data) const {
    return seen(sotto("data info" + options + data));
  }
  std::size_t weights() const {
    return nlohmann::json::parse(TempDir::read(dir_.file("m.json")))["weights"].size();
  }
  /// The usual file and its neighbours must look alike.
  void compare(const std::string& head,
               const std::vector<std::string>& rows,
               const std::vector<std::string>& twins,
               const std::string& name,
               const std::string& data,
               const Words& options,
               const Words& labels = {}) {
    dir_.write(name, joined(head, rows, ""));
    const Words closed = options + "--no-refusals";
    const Words declared = closed + "--neighbours add-remove --public-n 50";
    const Words described = labels + "--no-refusals";
    const Seen trained = train(closed, data);
    ASSERT_EQ(trained.code, 0) << name << trained.err;
    const std::size_t size = weights();
    const Seen uncounted = train(declared, data);
    ASSERT_EQ(uncounted.code, 0) << name << uncounted.err;
    const Seen facts = info(described, data);
    ASSERT_EQ(facts.code, 0) << name << facts.err;
    for (const std::string& twin : twins) {
      dir_.write(name, joined(head, rows, twin));
      EXPECT_EQ(train(closed, data), trained) << name << ": " << twin;
      EXPECT_EQ(weights(), size) << name;
      EXPECT_EQ(train(declared, data), uncounted) << name << ": " << twin;
      EXPECT_EQ(info(described, data), facts) << name << ": " << twin;
      // By default: refused with the place, before anything is charged.
      const Seen refused = train(options, data);
      EXPECT_EQ(refused.code, 3) << name << ": " << twin;
      EXPECT_THAT(refused.err, HasSubstr(":8:")) << name;
      EXPECT_FALSE(std::filesystem::exists(dir_.file("m.json.journal")));
    }
  }

  TempDir dir_;
};

std::string floats(const std::vector<float>& values) { return bytes_of(values); }

const std::vector<std::string> kLibsvmRows = {"+1 1:0.5 3:1\n", "-1 2:1\n"};
const std::vector<std::string> kLibsvmTwins = {
    "2 1:1\n", "text\n", "1 1:nan\n", "1 900:1\n", "1 2:1 1:1\n", "-1 1:1e39\n"};

TEST_F(Misfit, LibsvmDenseAndSparse) {
  for (const char* dim : {"4", "400"})
    compare("",
            kLibsvmRows,
            kLibsvmTwins,
            "a.svm",
            dir_.file("a.svm"),
            {"--dim", dim, "--row-norm 1"},
            {"--dim", dim});
}

TEST_F(Misfit, CsvDenseSparseAndPersons) {
  const std::string columns =
      "[[column]]\nname='x'\nkind='numeric'\nmin=0\nmax=1\n"
      "[[column]]\nname='c'\nkind='categorical'\nvalues=['a','b']\n"
      "[[column]]\nname='y'\nkind='label'\npositive=[1]\nnegative=[0]\n";
  const std::string rows_schema = dir_.write("rows.toml", columns);
  const std::string persons_schema =
      dir_.write("persons.toml", "[[column]]\nname='who'\nkind='unit'\n" + columns);
  for (const char* layout : {"dense", "sparse"}) {
    compare("",
            {"0.5,a,1\n", "0.2,b,0\n"},
            {"text,a,1\n", ",a,1\n", "0.5,a,7\n", "0.5\n", "0.5,a,1,1\n", "\"0.5,a,1\n"},
            "a.csv",
            dir_.file("a.csv"),
            {"--schema", rows_schema, "--layout", layout},
            {"--schema", rows_schema});
    // The person of the changed row has others, and keeps them.
    compare("",
            {"p0,0.5,a,1\n", "p1,0.2,b,0\n", "p2,0.2,b,0\n", "p3,0.2,b,1\n", "p4,0.1,a,0\n"},
            {"p2,text,a,1\n", "p2,0.5,a,7\n"},
            "a.csv",
            dir_.file("a.csv"),
            {"--schema", persons_schema, "--layout", layout},
            {"--schema", persons_schema});
    if (layout == std::string("dense"))
      for (const Words& limit : {Words{"--most-rows 9"}, Words{"--most-rows 1"}})
        compare("",
                {"p0,0.5,a,1\n", "p1,0.2,b,0\n", "p2,0.2,b,0\n", "p3,0.2,b,1\n", "p4,0.1,a,0\n"},
                {"p2,text,a,1\n", "p2,0.5,a,7\n"},
                "a.csv",
                dir_.file("a.csv"),
                Words{"--schema", persons_schema, "--model mlp:3 --method dp-sgd"} + limit,
                {"--schema", persons_schema});
  }
}

TEST_F(Misfit, Npy) {
  std::string labels = npy_header("<f4", "(40,)");
  for (int i = 0; i < kMisfitRows; ++i) labels += floats({static_cast<float>(i % 2)});
  dir_.write("y.npy", labels);
  compare(npy_header("<f4", "(40, 3)"),
          {floats({1, 0, 2}), floats({0, 1, 1})},
          {floats({1, NAN, 2}), floats({1, INFINITY, 2})},
          "x.npy",
          dir_.file("x.npy") + "," + dir_.file("y.npy"),
          {"--classes 0,1 --row-norm 1"},
          {"--classes 0,1"});
}

TEST_F(Misfit, LabelsOfNpyIdxAndCifar) {
  std::string features = npy_header("<f4", "(40, 3)");
  for (int i = 0; i < kMisfitRows; ++i) features += floats({1, 0, static_cast<float>(i % 2)});
  dir_.write("x.npy", features);
  compare(npy_header("<f4", "(40,)"),
          {floats({0}), floats({1})},
          {floats({2}), floats({NAN}), floats({0.5F})},
          "y.npy",
          dir_.file("x.npy") + "," + dir_.file("y.npy"),
          {"--classes 0,1 --row-norm 1"},
          {"--classes 0,1"});
  dir_.write("x-ubyte",
             std::string("\0\0\x08\x03\0\0\0\x28\0\0\0\1\0\0\0\2", 16) + std::string(80, '7'));
  const std::string pair = dir_.file("x-ubyte") + "," + dir_.file("y-ubyte");
  const std::string head("\0\0\x08\x01\0\0\0\x28", 8);
  compare(head,
          {std::string(1, '\0'), "\x01"},
          {"\x02", "\xff"},
          "y-ubyte",
          pair,
          {"--classes 0,1"},
          {"--classes 0,1"});
  compare(head,
          {std::string(1, '\0'), "\x01"},
          {"\x0a", "\xff"},
          "y-ubyte",
          pair,
          {"--model mlp:3 --method dp-sgd"},
          {"--labels multiclass"});
  compare("",
          {'\x01' + std::string(3072, '7'), '\x02' + std::string(3072, '9')},
          {'\x0a' + std::string(3072, '7')},
          "a.bin",
          dir_.file("a.bin"),
          {"--model mlp:3 --method dp-sgd"},
          {"--labels multiclass"});
}

/// The comparison can fail: without privacy the classes and features are those of the rows.
TEST_F(Misfit, AMethodThatInfersIsTold) {
  const std::string data = dir_.write("a.svm", joined("", kLibsvmRows, ""));
  const auto train = [&] {
    return seen(sotto({"train --overwrite --method gd --steps 3", data, dir_.file("m.json")}));
  };
  const Seen usual = train();
  ASSERT_EQ(usual.code, 0) << usual.err;
  EXPECT_THAT(usual.err, HasSubstr("treated as public"));
  dir_.write("a.svm", joined("", kLibsvmRows, "1 9:1\n"));
  EXPECT_NE(train(), usual);
  dir_.write("a.svm", joined("", kLibsvmRows, "2 1:1\n"));
  EXPECT_EQ(train().code, 3);
}

TEST_F(Misfit, CheckListsAllOfThem) {
  std::string rows;
  for (int i = 0; i < 30; ++i) rows += "+1 1:1\n3 1:31337\n-1 7:1\n";
  const std::string data = dir_.write("a.svm", rows);
  const auto run = sotto({"data check --dim 2 --show 3", data});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("a.svm:2:1: the label"),
                    HasSubstr("a.svm:3:2: the feature index is above"),
                    HasSubstr("a.svm:5:1:"),
                    Not(HasSubstr("a.svm:6:")),
                    HasSubstr("60 rows do not fit"),
                    Not(HasSubstr("31337"))));
  EXPECT_EQ(sotto({"data check --dim 9", data}).code, 3);
  EXPECT_EQ(sotto({"data check", data}).code, 2) << "what is to be checked must be declared";
  EXPECT_EQ(sotto({"data check --dim 2 --no-refusals", data}).code, 2);
  const auto sound = sotto({"data check --dim 9 --labels multiclass --classes -1,1,3", data});
  EXPECT_EQ(sound.code, 0) << sound.err;
  EXPECT_THAT(sound.out, HasSubstr("every row fits"));
  EXPECT_THAT(sound.err, ::testing::IsEmpty());
}

/// A filler that float32 rounds up made a row longer than the schema's bound: once exit code 7.
TEST_F(Misfit, AMissingValueIsNoLongerThanTheBound) {
  const std::string schema = dir_.write(
      "s.toml",
      "[file]\nmissing=['?']\n[[column]]\nname='x'\nkind='numeric'\nmin=0\nmax=1\nfiller=0.6\n"
      "missing_indicator=true\n"
      "[[column]]\nname='y'\nkind='label'\npositive=[1]\nnegative=[0]\n");
  dir_.write("a.csv", joined("", {"0.5,1\n", "0.2,0\n"}, "?,1\n"));
  EXPECT_EQ(train({"--schema", schema}, dir_.file("a.csv")).code, 0);
}

/// Under add-remove a plan shows what is declared, even where there are rows.
TEST_F(Misfit, ADryRunShowsDeclaredFactsOnly) {
  const auto plan = [&](const std::string& label) {
    const std::string data =
        dir_.write("a.svm", joined("", {"0 1:1\n", "1 2:1\n"}, label + " 1:1\n"));
    return seen(
        sotto({"train --dry-run --model softmax --epsilon 1 --delta 1e-4 --neighbours add-remove "
               "--public-n 99 --method dp-sgd --dim 2 --classes 0..3 --json --no-refusals",
               data}));
  };
  const auto dimension = [](const Seen& run) {
    return nlohmann::json::parse(run.out)["dimension"].get<int>();
  };
  ASSERT_EQ(plan("1").code, 0) << plan("1").err;
  for (const char* label : {"1", "3", "5"}) EXPECT_EQ(dimension(plan(label)), 12) << label;
}

}  // namespace
}  // namespace sotto::testing
