// What every verb reads is left alone by what it writes, whatever paths lead to it; and a plot that
// can't be drawn whole leaves the old one in place.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/command.hpp"
#include "tests/support/persons.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kSmallNetwork = R"(input = [2]
loss = "softmax"
[[layer]]
kind = "dense"
outputs = 2
)";

/// A folder with one file of each kind that a command reads.
class Collisions : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(dir_.file("my,data"));
    fs::create_directory_symlink("my,data", dir_.file("link"));
    dir_.write("d.svm", small_libsvm());
    dir_.write("my,data/t.svm", small_libsvm());
    dir_.write("test.svm", small_libsvm(50));
    dir_.write("key", std::string(32, 'k'));
    dir_.write("c.toml", "steps = 2\n");
    dir_.write("p.txt", "1 0\n0 1\n-1 0\n");
    dir_.write("net.toml", kSmallNetwork);
  }

  std::string file(const std::string& name) const { return dir_.file(name); }

  static Words train(const Words& more, const std::string& method = "dp-sgd") {
    return Words{"train --method", method, "--delta 1e-5 --epsilon 1 --threads 1 --dim 2 -q"} +
           more;
  }
  static Words train_linear(const Words& more) { return train("--row-norm 1" + more); }

  /// The command is refused as one that is wrong, and no file is made, changed or gone.
  void expect_refused(const Words& words, const std::string& what) const {
    const auto before = files();
    const CommandResult result = sotto(words);
    EXPECT_EQ(result.code, 2) << what << result.err;
    EXPECT_THAT(result.err, HasSubstr("Choose ")) << what;
    EXPECT_EQ(files(), before) << what;
  }
  void expect_refused(const Words& words) const {
    expect_refused(words, words[0] + " " + words[1]);
  }

  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(dir_.file("")))
      if (entry.is_regular_file()) found[entry.path().string()] = TempDir::read(entry.path());
    return found;
  }

  TempDir dir_;
};

TEST_F(Collisions, NothingThatTrainReadsIsWrittenOver) {
  const std::vector<std::pair<std::string, Words>> inputs = {
      {"key", {"--journal-key", file("key")}},
      {"c.toml", {"--config", file("c.toml")}},
      {"c.toml", {"--config=" + file("c.toml")}},
      {"test.svm", {"--test", file("test.svm")}},
      {"d.svm", {}}};
  for (const auto& [name, given] : inputs)
    for (const char* option : {"--record", "--report", "--checkpoint", "MODEL"}) {
      Words words = given;
      const bool model = option == std::string("MODEL");
      if (!model) words += {option, file(name)};
      words += {file("d.svm"), model ? file(name) : file("m.json")};
      expect_refused(train_linear(words), std::string(option) + " over " + name);
    }
}

// What nothing can make again: what was spent, and a model that was paid for.
TEST_F(Collisions, NoJournalIsReplacedAndAModelOnlyByAModel) {
  ASSERT_EQ(sotto(train_linear({file("d.svm"), file("a.json")})).code, 0);
  for (const char* kept : {"a.json.journal", "a.json"}) {
    const bool journal = kept == std::string("a.json.journal");
    for (const char* option : {"--record", "--report", "--plot"})
      expect_refused(train_linear({option, file(kept), file("d.svm"), file("b.json")}), option);
    if (journal) expect_refused(train_linear({file("d.svm"), file(kept)}), "a model");
    expect_refused({"predict", file("d.svm"), file("a.json"), file(kept)}, "predictions");
    expect_refused({"export", file("a.json"), file(kept)}, "export");
    expect_refused({"evaluate", file("d.svm"), file("a.json"), "--report", file(kept)}, "evaluate");
    expect_refused({"recalibrate", file("d.svm"), file("a.json"), file(kept)}, "recalibrate");
    expect_refused({"show", file("a.json"), "--csv", file(kept)}, "show");
    expect_refused({"account --event gaussian(1) --neighbours zero-out --curve --html", file(kept)},
                   "a curve");
  }
  EXPECT_EQ(sotto(train_linear({"--again", file("d.svm"), file("a.json")})).code, 0);
}

// The state of a run that is paid for, and records: by their own kind alone.
TEST_F(Collisions, NoCheckpointAndNoRecordIsReplacedByAnythingElse) {
  const Words record = {"--record", file("r.json"), file("d.svm"), file("a.json")};
  ASSERT_EQ(sotto(train_linear(record)).code, 0);
  dir_.write("c.ckpt", "sotto checkpoint 2\n");
  for (const char* kept : {"c.ckpt", "r.json"}) {
    expect_refused({"predict", file("d.svm"), file("a.json"), file(kept)}, kept);
    expect_refused({"export", file("a.json"), file(kept)}, kept);
    expect_refused({"data make signs --rows 5 --dim 2", file(kept)}, kept);
    expect_refused(train_linear({file("d.svm"), file(kept)}), kept);
    expect_refused({"audit --epsilon 1 --delta 1e-5 --runs 100 --roc", file(kept)}, kept);
  }
  expect_refused(train_linear({"--record", file("c.ckpt"), file("d.svm"), file("b.json")}));
}

// Folders in which the names are Sotto's choice.
TEST_F(Collisions, DemosAndReproductionsKeepOthersFiles) {
  const TempDir project;
  project.write("train.csv", "age,label\n34,1\n");
  EXPECT_EQ(sotto({"demo --out", project.file("")}).code, 2);
  EXPECT_EQ(TempDir::read(project.file("train.csv")), "age,label\n34,1\n");
  for (const char* name : {"adp-fig1.json", "adp-fig1.html", "adp-fig1.cells.jsonl"}) {
    const TempDir out;
    out.write(name, R"j({"run":"r","open":"gaussian(1)","delta":1e-5})j");
    EXPECT_EQ(sotto({"reproduce adp-fig1 --out", out.file("")}).code, 2) << name;
    EXPECT_NE(TempDir::read(out.file(name)), "");
  }
}

TEST_F(Collisions, NeitherConstraintsNorNetworks) {
  for (const char* option : {"--record", "--checkpoint"}) {
    expect_refused(train({"--row-max 1 --constraint",
                          "polytope:" + file("p.txt"),
                          option,
                          file("p.txt"),
                          file("d.svm"),
                          file("m.json")},
                         "dp-fw-l1"),
                   "a polytope");
    for (const char* read : {"net.toml", "key", "d.svm"})
      expect_refused(train({"--model",
                            file("net.toml"),
                            "--journal-key",
                            file("key"),
                            "--classes -1,1",
                            option,
                            file(read),
                            file("d.svm"),
                            file("m.json")}),
                     read);
  }
}

TEST_F(Collisions, NothingThatOtherVerbsReadIsWrittenOver) {
  ASSERT_EQ(
      sotto(train({"--model softmax --classes -1,1 --steps 2", file("d.svm"), file("pre.json")}))
          .code,
      0);
  ASSERT_EQ(
      sotto(train_linear({"--steps 2 --record", file("r.svg"), file("d.svm"), file("m.json")}))
          .code,
      0);
  fs::create_hard_link(file("m.json"), file("m.onnx"));
  for (const char* output : {"--report", "--journal"}) {
    Words words = {
        "audit --one-run --method dp-sgd --model softmax --classes -1,1 --dim 2 --epsilon 8 "
        "--delta 1e-5 --steps 2 --canaries 10 --pretrained",
        file("pre.json"),
        output,
        file("pre.json")};
    if (output != std::string("--journal")) words += {"--journal", file("j")};
    words.push_back(file("d.svm"));
    expect_refused(words);
  }
  for (const char* output : {"--report", "--roc", "--resume"})
    expect_refused({"audit --method dp-sgd --runs 100 --epsilon 1 --delta 1e-5 --model",
                    file("net.toml"),
                    output,
                    file("net.toml")});
  expect_refused({"export", file("m.json"), file("m.onnx")});
  expect_refused({"report", file("r.svg"), "--plot", file("r.svg")});
  expect_refused({"report", file("r.svg"), "--out", file("r.svg")});
  expect_refused({"predict", file("d.svm"), file("m.json"), file("my,data/../d.svm")});
  expect_refused({"predict", file("my,data/t.svm"), file("m.json"), file("link/t.svm")});
  expect_refused({"data convert --dim 2", file("my,data/t.svm"), file("link/t.svm")});
  expect_refused({"data convert --dim 2", file("d.svm"), file("x.npy") + "," + file("d.svm")});
  expect_refused({"data make linear", file("x.npy") + "," + file("x.npy")});
  expect_refused({"account --event gaussian(1) --neighbours zero-out --curve --journal-key",
                  file("key"),
                  "--html",
                  file("key")});
}

TEST_F(Collisions, PairsAreTwoFiles) {
  ASSERT_EQ(
      sotto({"data convert --dim 2", file("d.svm"), file("x.npy") + "," + file("y.npy")}).code, 0);
  for (const char* part : {"x.npy", "y.npy"})
    expect_refused(train({"--row-norm 1 --classes -1,1 --record",
                          file(part),
                          file("x.npy") + "," + file("y.npy"),
                          file("m.json")}),
                   part);
}

TEST_F(Collisions, CommasHideNoFile) {
  expect_refused(
      train_linear({"--record", file("link/t.svm"), file("my,data/t.svm"), file("m.json")}),
      "data in a folder with a comma");
  expect_refused(
      train_linear({"--record", file("my,data/../m.json"), file("d.svm"), file("m.json")}),
      "a record by way of such a folder");
  const auto run = sotto(train_linear(
      {"--steps 2 --record", file("link/r,1.json"), file("d.svm"), file("my,data/run,1.json")}));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(fs::exists(file("my,data/run,1.json.journal")));
}

/// With standard output or error where this says: `>>FILE`.
std::string redirected(const std::string& to) {
  return "sh -c " + quoted("exec \"$@\" " + to) + " sh";
}

TEST_F(Collisions, NothingIsSaidIntoAFileOfTheCommand) {
  const Words words = {
      "train --method dp-sgd --delta 1e-5 --epsilon 1 --dim 2 --row-norm 1 --steps 2 --record",
      file("r.json"),
      "--journal-key",
      file("key"),
      "--config",
      file("c.toml"),
      "--checkpoint",
      file("c"),
      file("d.svm"),
      file("m.json")};
  ASSERT_EQ(sotto(words).code, 0);
  dir_.write("c", "a state");
  fs::create_hard_link(file("m.json.journal"), file("other_name"));
  const auto before = files();
  for (const char* name :
       {"m.json.journal", "m.json", "r.json", "c", "d.svm", "key", "c.toml", "other_name"})
    for (const char* stream : {">>", "2>>"}) {
      const std::string to = stream + quoted(file(name));
      const auto result = sotto(words, redirected(to));
      EXPECT_EQ(result.code, 2) << to;
      // Said where it is seen, and not there.
      EXPECT_THAT(result.out + result.err, HasSubstr("messages would be written into it")) << to;
      EXPECT_EQ(files(), before) << to;
      EXPECT_EQ(sotto(words, redirected(to + " 2>&1 1>&2")).code, 2) << to;
      EXPECT_EQ(files(), before) << to;
    }
  // As a shell does it that empties the file first: nothing is added to it.
  EXPECT_EQ(sotto(words, redirected(">" + quoted(file("m.json.journal")))).code, 2);
  EXPECT_EQ(TempDir::read(file("m.json.journal")), "");
}

TEST_F(Collisions, NorIntoWhatOtherVerbsRead) {
  ASSERT_EQ(
      sotto(train_linear({"--steps 2 --record", file("r.json"), file("d.svm"), file("m.json")}))
          .code,
      0);
  const auto before = files();
  const std::vector<std::pair<Words, std::string>> commands = {
      {{"verify", file("r.json"), "--model", file("m.json")}, "m.json"},
      {{"verify", file("r.json"), "--journal", file("m.json.journal")}, "m.json.journal"},
      {{"account --journal", file("m.json.journal"), "--delta 1e-5"}, "m.json.journal"},
      {{"predict", file("d.svm"), file("m.json"), file("p.csv")}, "d.svm"},
      {{"data check --dim 2 --row-norm 1", file("d.svm")}, "d.svm"}};
  for (const auto& [words, name] : commands) {
    EXPECT_EQ(sotto(words, redirected(">>" + quoted(file(name)))).code, 2) << words[0];
    EXPECT_EQ(files(), before) << words[0];
  }
}

TEST_F(Collisions, StreamsMayLeadAnywhereElse) {
  const Words words = {
      "train --again --method dp-sgd --delta 1e-5 --epsilon 1 --dim 2 --row-norm 1 --steps 2",
      file("d.svm"),
      file("m.json")};
  for (const std::string& to : {std::string(">/dev/null"),
                                std::string(">/dev/null 2>&1"),
                                ">" + quoted(file("log")) + " 2>&1",
                                std::string("| cat"),
                                std::string("2>&-")})
    EXPECT_EQ(sotto(words, redirected(to)).code, 0) << to;
  EXPECT_THAT(TempDir::read(file("log")), HasSubstr("dp-sgd: 2 steps"));
  // Whoever names the stream as an output means it.
  const auto shown = sotto({"predict", file("d.svm"), file("m.json"), "/dev/stdout"},
                           redirected(">" + quoted(file("predictions"))));
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(TempDir::read(file("predictions")), "");
}

// Where no file can hold it, the message does not say that it is kept.
TEST_F(Collisions, ALostModelIsCalledLost) {
  std::string rows;
  for (int i = 0; i < 40; ++i) rows += (i % 2 ? "+1 " : "-1 ") + std::to_string(i + 1) + ":1\n";
  const auto result =
      sotto({"train --method dp-gd -q --epsilon 1 --delta 1e-6 --row-norm 1 --dim 20000 --steps 3",
             dir_.write("wide.svm", rows),
             file("wide.json")},
            "ulimit -f 64;");
  EXPECT_EQ(result.code, 6) << result.err;
  EXPECT_THAT(result.err, HasSubstr("It is LOST"));
  EXPECT_THAT(result.err, ::testing::Not(HasSubstr("It is kept")));
}

/// A rescued model takes no name that is taken: not even that of a file which the command read.
TEST_F(Collisions, ARescuedModelTakesANameOfItsOwn) {
  const std::string rows = "x,y\n0.5,sick\n-0.5,well\n0.6,sick\n-0.4,well\n";
  const std::string data = dir_.write("sotto-model-rescued.json", rows);
  dir_.write("schema.toml", sick_or_well());
  fs::create_directory(file("gone"));
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  // Who reads the schema has found the model's folder to be there; then it goes.
  const auto result =
      sotto({"train --method gd -q --schema", file("pipe"), data, file("gone/m.json")},
            "(exec 3>" + quoted(file("pipe")) + "; rmdir " + quoted(file("gone")) + "; cat " +
                quoted(file("schema.toml")) + " >&3) & TMPDIR=" + quoted(file("")));
  EXPECT_EQ(result.code, 6) << result.err;
  EXPECT_THAT(result.err, HasSubstr(".json instead"));
  EXPECT_EQ(TempDir::read(data), rows);
  int models = 0;
  for (const auto& entry : fs::directory_iterator(file("")))
    if (entry.is_regular_file() && entry.path() != data &&
        entry.path().filename().string().starts_with("sotto-model-")) {
      EXPECT_THAT(TempDir::read(entry.path()), HasSubstr("sotto_model"));
      ++models;
    }
  EXPECT_EQ(models, 1);
}

/// `gnuplot` as this text says, for one command.
CommandResult report_with(const TempDir& dir, const std::string& gnuplot, const std::string& plot) {
  return sotto({"report", dir.file("r.json"), "--plot", dir.file(plot)},
               "PATH=" + quoted(made_up_program(dir, "gnuplot", gnuplot)) + ":$PATH;");
}

TEST_F(Collisions, APlotIsWholeOrTheOldOne) {
  ASSERT_EQ(
      sotto(train_linear({"--steps 2 --record", file("r.json"), file("d.svm"), file("m.json")}))
          .code,
      0);
  for (const std::string& name : {std::string("p.svg"), std::string("p.png")}) {
    dir_.write(name, "old");
    for (const char* gnuplot : {"cat >/dev/null; echo '<svg>'",
                                "cat >/dev/null; echo '<svg></svg>'; exit 1",
                                "echo '<svg></svg>'; kill -9 $$",
                                "exit 0"}) {
      const auto result = report_with(dir_, gnuplot, name);
      EXPECT_EQ(result.code, 6) << gnuplot << result.err;
      EXPECT_THAT(result.err, HasSubstr(name + " is not drawn")) << gnuplot;
      EXPECT_EQ(TempDir::read(file(name)), "old") << gnuplot;
    }
  }
  const auto drawn = report_with(dir_, "cat >/dev/null; echo '<svg></svg>'", "p.svg");
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_EQ(TempDir::read(file("p.svg")), "<svg></svg>\n");
  // A disk without room, as far as one can have that without a mount.
  const auto full = sotto({"report", file("r.json"), "--plot", file("p.svg")},
                          "PATH=" + quoted(file("bin")) + ":$PATH; ulimit -f 0;");
  EXPECT_EQ(full.code, 6) << full.err;
  EXPECT_EQ(TempDir::read(file("p.svg")), "<svg></svg>\n");
}

}  // namespace
}  // namespace sotto::testing
