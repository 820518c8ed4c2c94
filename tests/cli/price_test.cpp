// What was promised is what is charged; nothing that a private run leaves tells the time; test rows
// are public; files of version 0.1 are restated.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string golden(const std::string& name) {
  return std::string(SOTTO_SOURCE_DIR) + "/tests/privacy/golden/v0_1/" + name;
}

class Prices : public ::testing::Test {
 protected:
  CommandResult train(const Words& more) const {
    return sotto(Words{"train --delta 1e-5 --row-norm 1 --dim 2 --record", record_} + more +
                 Words{data_, model_});
  }
  json record() const { return json::parse(TempDir::read(record_)); }

  TempDir dir_;
  std::string data_ = dir_.write("d.svm", small_libsvm());
  std::string model_ = dir_.file("model.json");
  std::string record_ = dir_.file("run.json");
};

TEST_F(Prices, AnAdaptiveRunCostsItsFiltersBudget) {
  const auto run = train({"--method dp-tr --epsilon 3"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto journal = sotto({"account --journal", model_ + ".journal", "--json"});
  ASSERT_EQ(journal.code, 0) << journal.err;
  const auto told = json::parse(journal.out)["runs"][0];
  EXPECT_EQ(told["epsilon_upper"], 3);
  EXPECT_EQ(told["rule"], "filter");
  EXPECT_EQ(record()["privacy"]["rule"], "filter");
  EXPECT_EQ(json::parse(TempDir::read(model_))["privacy"]["rule"], "filter");
  EXPECT_EQ(sotto({"verify", record_}).code, 0);

  json edited = record();
  edited["epsilon_spent"] = edited["privacy"]["epsilon"] = 0.904;
  const auto caught = sotto({"verify", dir_.write("edited.json", edited.dump())});
  EXPECT_EQ(caught.code, 5);
  EXPECT_THAT(caught.out, HasSubstr("however early"));
}

TEST_F(Prices, ADamagedJournalIsRefusedWithItsLine) {
  ASSERT_EQ(train({"--epsilon 8 --steps 10"}).code, 0);
  ASSERT_EQ(train({"--again --epsilon 0.5 --steps 10"}).code, 0);
  const std::string path = model_ + ".journal";
  std::string text = TempDir::read(path);
  const std::size_t second = text.find("\"open\"", text.find("\"close\""));
  const std::size_t end = text.find('\n', second);
  const auto number = 1 + std::count(text.begin(), text.begin() + static_cast<long>(end), '\n');
  text.erase(end - 3, 3);
  dir_.write("model.json.journal", text);
  const auto refused = sotto({"account --journal", path});
  EXPECT_EQ(refused.code, 3) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr(path + ":" + std::to_string(number) + ":"));
  const auto next = train({"--epsilon 1 --steps 10"});
  EXPECT_EQ(next.code, 3) << "nor is it continued";
  EXPECT_EQ(TempDir::read(path), text);
}

// One digit of an opening line or of a record was changed.
TEST_F(Prices, ABudgetDoesNotOverruleThePlanBesideIt) {
  for (const std::string method : {"dp-gd", "dp-tr"}) {
    for (const auto& file : {model_, model_ + ".journal", record_}) fs::remove(file);
    ASSERT_EQ(train({"--epsilon 8 --method", method}).code, 0);
    const std::string path = model_ + ".journal";
    std::string text = TempDir::read(path);
    for (const std::string budget : {"0.1", "0", "-8.0"}) {
      std::string damaged = text;
      damaged.replace(damaged.find("\"epsilon\":8.0"), 13, "\"epsilon\":" + budget);
      const auto told = sotto({"account --journal", dir_.write("damaged.journal", damaged)});
      EXPECT_EQ(told.code, 3) << method << told.out;
      EXPECT_THAT(told.err, HasSubstr("damaged.journal:1:"));
    }
    json edited = record();
    edited["epsilon_budget"] = edited["epsilon_spent"] = edited["privacy"]["epsilon"] = 0.01;
    EXPECT_EQ(sotto({"verify", dir_.write("edited.json", edited.dump())}).code, 5) << method;
  }
}

/// The number after `words`.
double number_after(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  EXPECT_NE(at, std::string::npos) << words << " in " << text;
  return at == std::string::npos ? 0 : std::stod(text.substr(at + words.size()));
}

// An upper bound is rounded up when it is printed, a lower one down, and noise up.
TEST_F(Prices, NoPrintedPriceIsBelowTheExactOne) {
  const auto run = train({"--steps 1 --noise-multiplier 1.7"});
  ASSERT_EQ(run.code, 0) << run.err;
  const double exact = record()["epsilon_spent"];
  EXPECT_GE(number_after(run.out, "epsilon "), exact) << run.out;
  EXPECT_GE(number_after(run.err, "the plan costs epsilon "), exact) << run.err;
  const auto told = sotto({"account --journal", model_ + ".journal"});
  EXPECT_GE(number_after(told.out, "epsilon "), exact) << told.out;
  EXPECT_GE(number_after(sotto({"verify", record_}).out, "its price"), exact);

  for (int k = 1; k <= 20; ++k) {
    const std::string event = "gaussian(" + std::to_string(0.3 + 0.17 * k) + ")";
    const Words ask = {"account --event", event, "--neighbours zero-out --delta 1e-5"};
    const auto answer = json::parse(sotto(ask + "--json").out)["accountants"][0];
    const std::string row = sotto(ask).out;
    std::istringstream words(row.substr(row.find("\ngaussian ") + 10));
    double upper = 0, lower = 0;
    words >> upper >> lower;
    EXPECT_GE(upper, answer["epsilon_upper"].get<double>()) << event;
    EXPECT_LE(lower, answer["epsilon_lower"].get<double>()) << event;
  }
}

TEST(CalibratedNoise, AsPrintedStillMeetsItsTarget) {
  for (int k = 1; k <= 20; ++k) {
    const std::string epsilon = std::to_string(0.2 + 0.31 * k);
    const auto found = sotto({"calibrate --event",
                              std::string("repeat(10, gaussian(z))"),
                              "--neighbours zero-out --epsilon",
                              epsilon,
                              "--delta 1e-5"});
    ASSERT_EQ(found.code, 0) << found.err;
    const std::string z = found.out.substr(17, found.out.find(' ', 17) - 17);
    const auto spent = sotto({"account --event",
                              "repeat(10, gaussian(" + z + "))",
                              "--neighbours zero-out --delta 1e-5 --json"});
    EXPECT_LE(json::parse(spent.out)["accountants"][0]["epsilon_upper"].get<double>(),
              std::stod(epsilon))
        << z;
  }
}

TEST(CalibratedNoise, MayStandOnlyWhereAnyNumberCan) {
  for (const char* event : {"repeat(z, gaussian(10))",
                            "fixed_size(z, 10, gaussian(1))",
                            "fixed_size(1, z, gaussian(1))",
                            "poisson(0.5/z, gaussian(10))",
                            "poisson(z, gaussian(1))"}) {
    const auto refused =
        sotto({"calibrate --event", event, "--neighbours zero-out --epsilon 1 --delta 1e-5"});
    EXPECT_EQ(refused.code, 2) << event << refused.out;
    EXPECT_THAT(refused.err, HasSubstr("z")) << event;
    EXPECT_THAT(refused.err, Not(HasSubstr("internal"))) << event;
  }
}

/// Every key of an object, and of all that is in it.
void collect_keys(const json& value, std::vector<std::string>& keys) {
  for (const auto& item : value.items()) {
    if (value.is_object()) keys.push_back(item.key());
    if (item.value().is_structured()) collect_keys(item.value(), keys);
  }
}

TEST_F(Prices, NothingThatAPrivateRunLeavesTellsTheTime) {
  const std::string page = dir_.file("run.html");
  const auto run = train({"--epsilon 1 --steps 50 --report", page});
  ASSERT_EQ(run.code, 0) << run.err;
  std::vector<std::string> keys;
  collect_keys(record(), keys);
  collect_keys(json::parse(TempDir::read(model_)), keys);
  for (const auto& key : keys)
    EXPECT_THAT(key, AllOf(Not(HasSubstr("second")), Not(HasSubstr("time")), Not("finished")));
  EXPECT_THAT(TempDir::read(page), AllOf(Not(HasSubstr("UTC")), Not(HasSubstr("training time"))));
  EXPECT_THAT(run.out + run.err, AllOf(Not(HasSubstr("seconds")), Not(HasSubstr("a second"))));

  const auto unsafe = train({"--again --epsilon 1 --steps 50 --unsafe-diagnostics"});
  EXPECT_THAT(unsafe.err, HasSubstr("NOT private: loaded in"));
  EXPECT_THAT(unsafe.out, Not(HasSubstr("loaded in")));
}

TEST_F(Prices, TestRowsAreNeverTheTrainingRows) {
  fs::create_symlink(data_, dir_.file("link.svm"));
  fs::create_hard_link(data_, dir_.file("hard.svm"));
  for (const std::string& name :
       {data_, dir_.file("link.svm"), dir_.file("hard.svm"), dir_.file("./d.svm")}) {
    const auto run = train({"--epsilon 1 --test", name});
    EXPECT_EQ(run.code, 2) << name;
    EXPECT_THAT(run.err, AllOf(HasSubstr("--test"), HasSubstr("must be public")));
    EXPECT_FALSE(fs::exists(model_ + ".journal")) << "nothing was charged";
  }
  EXPECT_EQ(train({"--method gd --test", data_}).code, 0) << "claims nothing";
  const std::string other = dir_.write("test.svm", small_libsvm(40));
  ASSERT_EQ(train({"--overwrite --epsilon 1 --test", other}).code, 0);
  EXPECT_EQ(record()["privacy"]["test_declared_public"], true);
  EXPECT_EQ(json::parse(TempDir::read(model_))["privacy"]["test_declared_public"], true);
  ASSERT_EQ(train({"--again --epsilon 1"}).code, 0);
  EXPECT_EQ(record()["privacy"]["test_declared_public"], false);
}

TEST_F(Prices, APartOfTheTrainingDataIsNoTestSetEither) {
  const std::string parts = data_ + "," + dir_.write("labels", "");
  const auto run = sotto({"train --model mnist-cnn --format idx --epsilon 1 --delta 1e-5 --test",
                          dir_.write("others", "") + "," + dir_.file("labels"),
                          parts,
                          model_});
  EXPECT_EQ(run.code, 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr("must be public"));
}

TEST_F(Prices, AnAuditInOneRunSaysThatNothingCoversIt) {
  const std::string page = dir_.file("audit.html");
  const Words words = {"audit --one-run --journal",
                       dir_.file("audit.journal"),
                       "--method dp-gd --epsilon 1 --delta 1e-5 --dim 2 --steps 20 --canaries 20 "
                       "--row-norm 1 --report",
                       page,
                       data_};
  const auto run = sotto(words);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, ::testing::StartsWith("NOT private: not covered by any charge"));
  EXPECT_THAT(TempDir::read(page), AllOf(HasSubstr("NOT PRIVATE"), HasSubstr("no charge covers")));
  const auto object = json::parse(sotto(words + "--json").out);
  EXPECT_EQ(object["private"], false);
  EXPECT_THAT(object["warning"].get<std::string>(), HasSubstr("not covered by any charge"));
}

TEST(Version01, JournalsAreRestatedWithAWarning) {
  const std::vector<std::pair<std::string, double>> true_prices = {
      {"filter.journal", 3}, {"interrupted.journal", 2}, {"killed.journal", 2}};
  for (const auto& [name, epsilon] : true_prices) {
    const auto run = sotto({"account --journal", golden(name), "--json"});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto told = json::parse(run.out)["runs"][0];
    EXPECT_NEAR(told["epsilon_upper"].get<double>(), epsilon, 1e-5) << name;
    EXPECT_EQ(told["restated"], true);
    EXPECT_THAT(run.err, AllOf(HasSubstr("version 0.1"), HasSubstr("docs/advisories")));
  }
}

TEST(Version01, RecordsAndModelsStillLoad) {
  const TempDir dir;
  const auto verified = sotto({"verify", golden("plan.json")});
  EXPECT_EQ(verified.code, 0) << verified.out;
  EXPECT_THAT(verified.out, AllOf(HasSubstr("docs/advisories"), HasSubstr("lattice")));
  EXPECT_EQ(sotto({"report", golden("filter.json"), "--out", dir.file("page.html")}).code, 0);
  EXPECT_EQ(sotto({"predict",
                   dir.write("d.svm", small_libsvm(20)),
                   golden("plan_model.json"),
                   dir.file("out")})
                .code,
            0);
}

}  // namespace
}  // namespace sotto::testing
