// Networks from the outside: train, predict, model files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/support/array_files.hpp"
#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

using ::testing::HasSubstr;

/// Images of 6 x 6 pixels in three classes: which third of the rows is bright.
struct Images {
  TempDir dir;
  std::string path;
  std::string test;  ///< the same, made public under another name

  explicit Images(std::uint32_t count = 600) {
    std::mt19937 random(1);
    std::string pixels, labels;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t label = i % 3;
      labels += static_cast<char>(label);
      for (std::uint32_t y = 0; y < 6; ++y)
        for (int x = 0; x < 6; ++x)
          pixels += static_cast<char>(y / 2 == label ? 150 + random() % 100 : random() % 60);
    }
    path = dir.write("x-idx3-ubyte", idx_file({count, 6, 6}, pixels)) + "," +
           dir.write("y-idx1-ubyte", idx_file({count}, labels));
    test = dir.write("t-x-idx3-ubyte", idx_file({count, 6, 6}, pixels)) + "," +
           dir.write("t-y-idx1-ubyte", idx_file({count}, labels));
  }
};

constexpr const char* kNetwork = R"(
input = [1, 6, 6]
mean = [0.5]
deviation = [0.25]
layers = ["conv 4 3 stride 2", "tanh", "flatten", "linear 3"]
)";

TEST(Network, TrainsAndPredicts) {
  const Images images;
  const std::string net = images.dir.write("net.toml", kNetwork);
  const std::string model = images.dir.file("model.json");
  const auto run = sotto({"train --model",
                          net,
                          "--method dp-sgd --epsilon 8 --delta 1e-4 --seed 1 --steps 60 "
                          "--expected-batch 100 --step-size 0.3 --test",
                          images.test,
                          "--json",
                          images.path,
                          model});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_LE(json["epsilon_spent"].get<double>(), 8);
  EXPECT_GT(json["test"]["accuracy"].get<double>(), 0.9);
  EXPECT_EQ(json["test"]["confusion"].size(), 3u);
  EXPECT_EQ(json["dimension"], 4 * 9 + 4 + 3 * 16 + 3);

  const std::string out = images.dir.file("out.txt");
  const auto predict = sotto({"predict", images.path, model, out});
  ASSERT_EQ(predict.code, 0) << predict.err;
  EXPECT_THAT(predict.out, HasSubstr("Accuracy = "));
  EXPECT_THAT(predict.out, HasSubstr("(predicted)"));
  const auto proba = sotto({"predict --proba", images.path, model, out});
  ASSERT_EQ(proba.code, 0) << proba.err;
  const std::string line = TempDir::read(out).substr(0, TempDir::read(out).find('\n'));
  EXPECT_EQ(line, "row,prediction,probability of 0,probability of 1,probability of 2");
}

TEST(Network, HasAReport) {
  const Images images(150);
  const auto file = [&](const char* name) { return images.dir.file(name); };
  const auto run =
      sotto({"train --model mlp:8 --method dp-sgd --epsilon 3 --delta 1e-3 --steps 20 --test",
             images.test,
             "--record",
             file("run.json"),
             "--report",
             file("run.html"),
             "-q",
             images.path,
             file("model.json")});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto record = nlohmann::json::parse(TempDir::read(file("run.json")));
  EXPECT_GE(record["test_curve"].size(), 6u);
  EXPECT_EQ(record["spending"].back()["epsilon_if_planned_to_end_here"], record["epsilon_spent"]);
  for (const char* part :
       {"Accuracy on public test rows", "Price of the plan, step by step", "linear 8", "mlp:8"})
    EXPECT_THAT(TempDir::read(file("run.html")), ::testing::HasSubstr(part));
}

TEST(Network, TheSameSeedsGiveTheSameModelForAnyThreads) {
  const Images images(150);
  const std::string net = images.dir.write("net.toml", kNetwork);
  std::string first;
  for (const char* threads : {"1", "3"}) {
    const std::string model = images.dir.file("model.json");
    const auto run = sotto({"train --model",
                            net,
                            "--again --method dp-srm --epsilon 3 --delta 1e-3 --seed 4 --steps 5 "
                            "--expected-batch 50 --threads",
                            threads,
                            images.path,
                            model});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto weights = nlohmann::json::parse(TempDir::read(model))["weights"].dump();
    if (first.empty()) first = weights;
    EXPECT_EQ(weights, first);
  }
}

TEST(Network, EveryMethodForNetworksRuns) {
  const Images images(150);
  const std::vector<Words> cases = {{"--method dp-gd --steps 3"},
                                    {"--method adp-sgd --steps 3 --expected-batch 50"},
                                    {"--method dp-sgd --steps 3 --update adam_bc --step-size 0.01"},
                                    {"--method dp-sgd --steps 3 --clip-rule layers"},
                                    {"--method dp-sgd --steps 3 --clip-quantile 0.5"},
                                    {"--method dp-sgd --steps 3 --neighbours replace-one"}};
  for (const auto& each : cases) {
    const auto run = sotto("train --again --model mlp:8 --epsilon 3 --delta 1e-3 -q" + each +
                           Words{images.path, images.dir.file("model.json")});
    EXPECT_EQ(run.code, 0) << each[1] << ": " << run.err;
  }
}

TEST(Network, FrozenLayersNeedAStartAndKeepIt) {
  const Images images(150);
  const std::string net = images.dir.write("net.toml", kNetwork);
  const std::string frozen = images.dir.write("frozen.toml", R"(
input = [1, 6, 6]
mean = [0.5]
deviation = [0.25]
layers = ["conv 4 3 stride 2 frozen", "tanh", "flatten", "linear 3"]
)");
  const std::string model = images.dir.file("public.json");
  ASSERT_EQ(sotto({"train --model", net, "--method sgd --steps 5 -q", images.path, model}).code, 0);
  const std::string second = images.dir.file("second.json");
  const Words arguments = {
      "train --model", frozen, "--epsilon 3 --delta 1e-3 -q --steps 3", images.path, second};
  const auto refused = sotto(arguments);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--pretrained"));
  const auto linear =
      sotto({"train --dry-run --method dp-gd --epsilon 1 --delta 1e-5 --dim 2 "
             "--row-norm 1 --pretrained",
             model,
             images.dir.write("rows.svm", small_libsvm()),
             images.dir.file("linear.json")});
  EXPECT_EQ(linear.code, 2);
  EXPECT_THAT(linear.err, HasSubstr("a linear model is trained"));
  const auto run = sotto(arguments + Words{"--pretrained", model});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto before = nlohmann::json::parse(TempDir::read(model))["weights"];
  const auto after = nlohmann::json::parse(TempDir::read(second))["weights"];
  for (std::size_t j = 0; j < 40; ++j) EXPECT_EQ(before[j], after[j]);
  EXPECT_NE(before[45], after[45]);
}

TEST(Network, Mistakes) {
  const Images images(30);
  const auto train = [&](const std::string& model) {
    return sotto({"train --model",
                  model,
                  "--epsilon 1 --delta 1e-3",
                  images.path,
                  images.dir.file("m.json")});
  };
  EXPECT_EQ(train("mnist-cnn4").code, 2);
  const auto batchnorm = train(images.dir.write(
      "bn.toml", "input = [1, 6, 6]\nlayers = [\"batchnorm\", \"flatten\", \"linear 3\"]\n"));
  EXPECT_EQ(batchnorm.code, 3);
  EXPECT_THAT(batchnorm.err, HasSubstr("groupnorm"));
  EXPECT_EQ(train("/nonexistent.toml").code, 6);
  // What a network can't do is said before anything is spent, and nothing is ignored.
  const std::string network = images.dir.write("net.toml", kNetwork);
  for (const Words& refused : std::vector<Words>{{"--method opt"},
                                                 {"--method dp-gd-sosp"},
                                                 {"--method dp-newton"},
                                                 {"--constraint l1:3"},
                                                 {"--row-max 1"},
                                                 {"--row-norm 1 --dim 2"},
                                                 {"--loss sigmoid"}}) {
    const Words words = {"train --epsilon 1 --delta 1e-3 --model",
                         network,
                         images.path,
                         images.dir.file("refused.json")};
    EXPECT_EQ(sotto(words + refused).code, 2) << refused.front() << ' ' << refused.back();
  }
  EXPECT_FALSE(std::filesystem::exists(images.dir.file("refused.json.journal")));
}

/// Three classes, and 40 persons with one to five rows each.
struct Wards {
  TempDir dir;
  std::string schema = dir.write("schema.toml",
                                 "[file]\nheader = true\n"
                                 "[[column]]\nname = \"who\"\nkind = \"unit\"\n"
                                 "[[column]]\nname = \"age\"\nkind = \"numeric\"\n"
                                 "min = 0\nmax = 100\n"
                                 "[[column]]\nname = \"back\"\nkind = \"label\"\n"
                                 "classes = [\"NO\", \">30\", \"<30\"]\n");
  std::string rows = [this] {
    std::string text = "who,age,back\n";
    for (int k = 0; k < 5; ++k)
      for (int i = 0; i < 40; ++i)
        if (k <= i % 5)
          text += "p" + std::to_string(i) + "," + std::to_string((7 * i + 31 * k) % 100) +
                  ((7 * i + 31 * k) % 100 < 30   ? ",NO\n"
                   : (7 * i + 31 * k) % 100 < 60 ? ",>30\n"
                                                 : ",<30\n");
    return dir.write("rows.csv", text);
  }();
  std::string model = dir.file("model.json");
};

TEST(Network, ProtectsPersons) {
  for (const char* name : {"softmax", "mlp:4"}) {
    const Wards wards;
    const Words how{"train --seed 5 --method dp-sgd --epsilon 8 --delta 1e-3 --steps 20 --model",
                    name,
                    "--schema",
                    wards.schema};
    const auto plan = sotto(how + Words{"--dry-run --public-n 40"});
    EXPECT_EQ(plan.code, 0) << plan.err;
    const std::string record = wards.dir.file("run.json");
    const auto run = sotto(how + Words{"--record", record, wards.rows, wards.model});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto statement = nlohmann::json::parse(TempDir::read(wards.model))["privacy"];
    EXPECT_EQ(statement["unit"], "who");
    EXPECT_EQ(statement["public_n"], 40) << "persons, not their rows";
    EXPECT_FALSE(statement.contains("most_rows"));
    const auto told = sotto({"evaluate --json", wards.rows, wards.model});
    ASSERT_EQ(told.code, 0) << told.err;
    EXPECT_EQ(nlohmann::json::parse(told.out)["rows"], 120);
    EXPECT_EQ(nlohmann::json::parse(told.out)["classes"].size(), 3u);
    const auto verified =
        sotto({"verify --journal", wards.model + ".journal", "--model", wards.model, record});
    EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  }
}

TEST(Network, TakesTheFirstRowsOfPersons) {
  const Wards wards;
  // The same rows, those beyond the second of each person left out by hand.
  std::istringstream lines(TempDir::read(wards.rows));
  std::string short_rows;
  int line = 0;
  for (std::string text; std::getline(lines, text) && line < 1 + 40 + 32; ++line)
    short_rows += text + "\n";
  const std::string by_hand = wards.dir.write("short.csv", short_rows);
  const auto weights = [&](const Words& how, const std::string& rows) {
    const std::string model = wards.dir.file("m.json");
    for (const char* old : {"m.json", "m.json.journal"})
      std::filesystem::remove(wards.dir.file(old));
    const auto run = sotto(
        Words{"train -q --seed 5 --method sgd --steps 20 --model mlp:3 --schema", wards.schema} +
        how + Words{rows, model});
    EXPECT_EQ(run.code, 0) << run.err;
    return nlohmann::json::parse(TempDir::read(model))["weights"];
  };
  EXPECT_EQ(weights({"--most-rows 2"}, wards.rows), weights({}, by_hand));
  EXPECT_NE(weights({}, wards.rows), weights({}, by_hand));
  const auto refused = sotto({"train --epsilon 1 --delta 1e-3 --most-rows 0 --schema",
                              wards.schema,
                              wards.rows,
                              wards.model});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--most-rows must be at least 1"));
  const auto nobody = sotto({"train --epsilon 1 --delta 1e-3 --dim 2 --row-norm 1 --most-rows 2",
                             wards.dir.write("r.svm", small_libsvm(20)),
                             wards.model});
  EXPECT_EQ(nobody.code, 2);
  EXPECT_THAT(nobody.err, HasSubstr("--most-rows counts the rows of a person"));
}

TEST(Network, IsAudited) {
  const Images images(300);
  const std::string network = images.dir.write("net.toml", kNetwork);
  const Words base = {"audit --model", network, "--epsilon 4 --delta 1e-5 --json"};
  const auto with = [&](const Words& more) { return sotto(base + more); };
  const auto worlds = with({"--method dp-gd --runs 500"});
  ASSERT_EQ(worlds.code, 0) << worlds.err;
  auto result = nlohmann::json::parse(worlds.out);
  EXPECT_EQ(result["model"], network);
  EXPECT_GT(result["lower_bound"].get<double>(), 1);
  EXPECT_LE(result["lower_bound"].get<double>(), 4);
  EXPECT_EQ(with({"--method dp-sgd --canary spread"}).code, 2);
  EXPECT_EQ(with({"--method dp-tr"}).code, 2);
  EXPECT_EQ(with({"--method dp-sgd --loss sigmoid"}).code, 2);

  const auto once = with({"--one-run --journal",
                          images.dir.file("audit.journal"),
                          "--method dp-sgd --steps 20 --canaries 60",
                          images.path});
  ASSERT_EQ(once.code, 0) << once.err;
  result = nlohmann::json::parse(once.out);
  EXPECT_EQ(result["canaries"], 60);
  EXPECT_NEAR(result["canary_share"].get<double>(), 1.0 / 6, 1e-12);
}

}  // namespace
}  // namespace sotto::testing
