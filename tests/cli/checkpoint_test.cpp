// Checkpoints from the outside: interrupted by signals, killed, continued; and what users get
// wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/support/array_files.hpp"
#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// What a model says of its privacy, but for its place in the journal: one that was continued has
/// more lines there.
nlohmann::json statement(nlohmann::json model) {
  model["privacy"].erase("journal");
  return model["privacy"];
}

class Checkpoints : public ::testing::Test {
 protected:
  Words command(const Words& more, const std::string& steps = "200000") const {
    return Words{
               "train --epsilon 1 --delta 1e-4 --row-norm 1 --dim 2 --method dp-gd --every 1000 "
               "--steps",
               steps,
               "--checkpoint",
               checkpoint_} +
           more + Words{data_, model_};
  }

  /// Starts the command, and sends it a signal as soon as its first checkpoint is there.
  CommandResult stopped(const Words& arguments, const std::string& signal) {
    return in_a_shell([&](const std::string& redirected) {
      return shell_line(arguments) + redirected + " & p=$!; k=0; while [ ! -e " +
             testing::quoted(checkpoint_) +
             " ] && [ $k -lt 6000 ]; do sleep 0.01; k=$((k+1)); done; kill -" + signal +
             " $p; wait $p";
    });
  }

  nlohmann::json model() const { return nlohmann::json::parse(TempDir::read(model_)); }
  double journal_epsilon() const {
    const auto run = sotto({"account --journal", model_ + ".journal", "--json"});
    const auto runs = nlohmann::json::parse(run.out)["runs"];
    EXPECT_EQ(runs.size(), 1u);
    return runs[0]["epsilon_upper"].get<double>();
  }

  TempDir dir_;
  std::string data_ = dir_.write("d.svm", small_libsvm());
  std::string model_ = dir_.file("model.json");
  std::string checkpoint_ = dir_.file("run.ckpt");
};

TEST_F(Checkpoints, ASignalWritesOneAndTheSeededRunGoesOnToTheSameModel) {
  for (const char* signal : {"INT", "TERM"}) {
    const auto first = stopped(command({"--seed 5"}), signal);
    ASSERT_EQ(first.code, 130) << first.err;
    EXPECT_THAT(first.err, AllOf(HasSubstr("holds the state"), HasSubstr("--resume")));
    EXPECT_FALSE(fs::exists(model_));
    const auto second = sotto(command({"--seed 5 --resume"}));
    ASSERT_EQ(second.code, 0) << second.err;
    EXPECT_THAT(second.err, HasSubstr("resuming"));
    EXPECT_FALSE(fs::exists(checkpoint_)) << "the model is written: nothing is left to continue";
    const auto continued = model();
    const double told = journal_epsilon();
    fs::remove(model_);
    fs::remove(model_ + ".journal");
    ASSERT_EQ(sotto(command({"--seed 5"})).code, 0);
    EXPECT_EQ(continued["weights"], model()["weights"]);
    EXPECT_EQ(statement(continued), statement(model()));
    EXPECT_EQ(told, journal_epsilon());
    fs::remove(model_);
    fs::remove(model_ + ".journal");
  }
}

TEST_F(Checkpoints, AKilledRunGoesOnWithinItsBudgetAndSaysWhatItLost) {
  const auto first = stopped(command({}), "KILL");
  ASSERT_EQ(first.code, 137) << first.err;
  ASSERT_TRUE(fs::exists(checkpoint_));
  const std::string content = TempDir::read(checkpoint_);
  const auto second = sotto(command({"--resume --record", dir_.file("run.json")}));
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("were lost"));
  EXPECT_THAT(second.out, HasSubstr("budget spent"));
  EXPECT_LE(model()["privacy"]["epsilon"].get<double>(), 1);
  EXPECT_LE(journal_epsilon(), 1);
  const auto record = nlohmann::json::parse(TempDir::read(dir_.file("run.json")));
  EXPECT_LT(record["steps"].get<std::int64_t>(), 200000);
  const auto verified = sotto({"verify", dir_.file("run.json")});
  EXPECT_EQ(verified.code, 0) << verified.out;

  // The budget is gone: the old file gives nothing more.
  dir_.write("run.ckpt", content);
  const auto third = sotto(command({"--resume"}));
  ASSERT_EQ(third.code, 0) << third.err;
  EXPECT_LE(journal_epsilon(), 1);
}

TEST_F(Checkpoints, AnInterruptedRunCostsItsWholePlan) {
  for (const char* signal : {"INT", "KILL"}) {
    const auto run = stopped(command({}), signal);
    ASSERT_EQ(run.code, std::string(signal) == "INT" ? 130 : 137) << run.err;
    EXPECT_NEAR(journal_epsilon(), 1, 1e-4) << signal;
    EXPECT_LE(journal_epsilon(), 1);
    if (run.code == 130) {
      EXPECT_THAT(run.err, HasSubstr("costs its whole plan, epsilon 1,"));
    }
    fs::remove(checkpoint_);
    fs::remove(model_ + ".journal");
  }
}

TEST_F(Checkpoints, AnotherDataFileIsNoticedByItsNameAndNotByItsTime) {
  ASSERT_EQ(stopped(command({}), "INT").code, 130);
  const std::string head = TempDir::read(checkpoint_);
  EXPECT_THAT(head, HasSubstr("d.svm"));
  EXPECT_THAT(head, Not(HasSubstr("time")));
  fs::last_write_time(data_, fs::last_write_time(data_) + std::chrono::seconds(1));
  const std::string right = data_;
  data_ = dir_.write("other.svm", small_libsvm());
  const auto run = sotto(command({"--resume"}));
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("the name of the data was d.svm, but is other.svm"));
  data_ = right;
  EXPECT_EQ(sotto(command({"--resume"})).code, 0);
}

TEST_F(Checkpoints, OptionsThatDontFit) {
  const auto alone =
      sotto({"train --epsilon 1 --delta 1e-4 --row-norm 1 --dim 2 --resume", data_, model_});
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--checkpoint"));
  EXPECT_EQ(sotto(command({"--every 0"}, "10")).code, 2);
  EXPECT_EQ(sotto(command({"--resume"}, "10")).code, 0) << "no file: starts afresh";
  dir_.write("run.ckpt", "not a checkpoint");
  const auto exists = sotto(command({}, "10"));
  EXPECT_EQ(exists.code, 2);
  EXPECT_THAT(exists.err, HasSubstr("--resume"));
  const auto garbage = sotto(command({"--resume"}, "10"));
  EXPECT_EQ(garbage.code, 3);
}

constexpr const char* kNetwork =
    "input = [1, 4, 4]\nlayers = [\"conv 2 3\", \"tanh\", \"flatten\", \"linear 3\"]\n";

TEST_F(Checkpoints, ANetworkGoesOnToTheSameModel) {
  std::mt19937 random(1);
  std::string pixels, labels;
  for (int i = 0; i < 90; ++i) labels += static_cast<char>(i % 3);
  for (int i = 0; i < 90 * 16; ++i) pixels += static_cast<char>(random());
  const std::string images = dir_.write("x-idx3-ubyte", idx_file({90, 4, 4}, pixels)) + "," +
                             dir_.write("y-idx1-ubyte", idx_file({90}, labels));
  const std::string net = dir_.write("net.toml", kNetwork);
  const auto line = [&](const Words& more) {
    return "train --method dp-sgd --epsilon 4 --delta 1e-3 --seed 2 --steps 20000 --expected-batch "
           "30 "
           "--update adam --accountant rdp" +
           more + Words{"--model", net, images, model_};
  };
  ASSERT_EQ(sotto(line({})).code, 0);
  const auto whole = model();
  fs::remove(model_);
  fs::remove(model_ + ".journal");
  const auto first = stopped(line({"--checkpoint", checkpoint_, "--every 50"}), "INT");
  ASSERT_EQ(first.code, 130) << first.err;
  const auto other =
      sotto(line({"--checkpoint", checkpoint_, "--every 50 --resume --initial-seed 9"}));
  EXPECT_EQ(other.code, 2) << "another start";
  EXPECT_THAT(other.err, HasSubstr("start"));
  const auto second = sotto(line({"--checkpoint", checkpoint_, "--every 50 --resume"}));
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(model()["weights"], whole["weights"]);
  EXPECT_EQ(statement(model()), statement(whole));
}

TEST(DryRun, OfANetworkShowsPlanNoiseAndCostWithoutRows) {
  const auto run =
      sotto({"train --dry-run --model mnist-cnn4 --public-n 60000 --method dp-sgd --epsilon 3 "
             "--delta 1e-5 --steps 100 --expected-batch 600 --json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["dimension"], 26010);
  EXPECT_LE(json["epsilon_planned"].get<double>(), 3);
  EXPECT_GT(json["noise_multiplier"].get<double>(), 0);
  EXPECT_NEAR(json["passes"].get<double>(), 1, 1e-9);
  EXPECT_GT(json["examples_a_second"].get<double>(), 0);
  EXPECT_THAT(json["plan"].get<std::string>(), HasSubstr("poisson(0.01"));

  const TempDir dir;
  const std::string net = dir.write("net.toml", kNetwork);
  const Words text = {"train --dry-run --model",
                      net,
                      "--method dp-sgd --epsilon 3 --delta 1e-5 --steps 100 --expected-batch 10"};
  auto without = sotto(text);
  EXPECT_EQ(without.code, 2) << "no number of units";
  EXPECT_THAT(without.err, HasSubstr("DATA"));
  const auto shown = sotto(text + "--public-n 1000");
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(
      shown.out,
      AllOf(HasSubstr("plan "), HasSubstr("cost 1 passes"), HasSubstr("examples per second")));
}

}  // namespace
}  // namespace sotto::testing
