// --report, --plot, --record and the `report` verb from the outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Report : public ::testing::Test {
 protected:
  CommandResult train(const Words& more, const std::string& prefix = "") const {
    return sotto("train --epsilon 1 --delta 1e-4 --row-norm 1 --dim 2 -q --again" + more +
                     Words{data_, dir_.file("model.json")},
                 prefix);
  }
  json record(const std::string& name) const { return json::parse(TempDir::read(dir_.file(name))); }
  bool exists(const std::string& name) const { return std::filesystem::exists(dir_.file(name)); }

  TempDir dir_;
  std::string data_ = dir_.write("train.svm", small_libsvm());
  std::string test_ = dir_.write("test.svm", small_libsvm());
};

TEST_F(Report, TheRecordHoldsWhatAReportNeeds) {
  const auto run = train({"--test", test_, "--record", dir_.file("run.json"), "--loss logistic"});
  ASSERT_EQ(run.code, 0) << run.err;
  const json record = this->record("run.json");
  EXPECT_EQ(record["command"][0], "train");
  EXPECT_EQ(record["command"].back(), dir_.file("model.json"));
  EXPECT_TRUE(record["versions"].contains("sotto"));
  EXPECT_EQ(record["class_names"].size(), 2u);
  std::map<std::string, std::string> origin;
  for (const auto& option : record["options"]) origin[option["name"]] = option["origin"];
  EXPECT_EQ(origin["epsilon"], "given");
  EXPECT_EQ(origin["loss"], "given");
  EXPECT_EQ(origin["neighbours"], "default");
  EXPECT_FALSE(origin.contains("schema")) << "neither given nor with a default";

  const auto& spending = record["spending"];
  ASSERT_GT(spending.size(), 10u);
  ASSERT_LE(spending.size(), 34u);
  double last = 0;
  for (const auto& point : spending) {
    EXPECT_GT(point["epsilon_if_planned_to_end_here"].get<double>(), last);
    last = point["epsilon_if_planned_to_end_here"].get<double>();
  }
  EXPECT_EQ(last, record["epsilon_spent"].get<double>()) << "the last point is the whole run";
  EXPECT_EQ(spending.back()["step"], record["steps"]);
  EXPECT_EQ(spending.back()["noise_samples"], record["privacy"]["noise_samples"]);
  EXPECT_LE(record["epsilon_lower"].get<double>(), last);
  EXPECT_GT(record["epsilon_lower"].get<double>(), 0.999 * last) << "this accountant is exact";

  ASSERT_GT(record["test_curve"].size(), 10u);
  EXPECT_NEAR(record["test_curve"].back()["accuracy"].get<double>(),
              record["test"]["accuracy"].get<double>(),
              0.2);
}

TEST_F(Report, TrainWritesAReport) {
  const auto run = train({"--test", test_, "--report", dir_.file("run.html")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(TempDir::read(dir_.file("run.html")),
              AllOf(HasSubstr("Privacy report: dp-gd"),
                    HasSubstr("What is not promised"),
                    HasSubstr("sotto train --epsilon 1"),
                    Not(HasSubstr("class=\"banner danger\""))));
}

TEST_F(Report, MarksUnsafeRuns) {
  const auto run = train({"--unsafe-diagnostics --report", dir_.file("run.html")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(TempDir::read(dir_.file("run.html")),
              AllOf(HasSubstr("class=\"banner danger\""),
                    HasSubstr("NOT PRIVATE: true training values were printed")));
}

TEST_F(Report, EveryKindOfMethodHasOne) {
  for (const std::string method :
       {"dp-sgd", "dp-srm", "dp-agd", "adp-sgd", "dp-tr", "dp-newton", "gd", "auto"}) {
    const auto run = train({"--method", method, "--report", dir_.file(method + ".html")});
    ASSERT_EQ(run.code, 0) << method << ": " << run.err;
    EXPECT_THAT(TempDir::read(dir_.file(method + ".html")), HasSubstr("Released gradient norms"));
  }
}

TEST_F(Report, ComparesRecords) {
  ASSERT_EQ(train({"--record", dir_.file("a.json")}).code, 0);
  ASSERT_EQ(train({"--method dp-sgd --record", dir_.file("b.json")}).code, 0);
  const auto one = sotto({"report", dir_.file("a.json")});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("a.html written"));
  EXPECT_THAT(TempDir::read(dir_.file("a.html")), HasSubstr("Privacy report: dp-gd"));
  const auto both =
      sotto({"report", dir_.file("a.json"), dir_.file("b.json"), "--out", dir_.file("both.html")});
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_THAT(TempDir::read(dir_.file("both.html")),
              AllOf(HasSubstr("Comparison of 2 runs"), HasSubstr("\"name\":\"b\"")));
}

TEST_F(Report, AnEditedRecordIsNotMadeIntoACleanPage) {
  ASSERT_EQ(train({"--record", dir_.file("run.json")}).code, 0);
  const auto clean = sotto({"report", dir_.file("run.json")});
  ASSERT_EQ(clean.code, 0) << clean.err;
  EXPECT_THAT(TempDir::read(dir_.file("run.html")),
              AllOf(HasSubstr("priced it anew"), Not(HasSubstr("DO NOT TRUST"))));
  json edited = record("run.json");
  edited["epsilon_spent"] = edited["privacy"]["epsilon"] = 0.1;
  const auto caught = sotto({"report", dir_.write("edited.json", edited.dump())});
  EXPECT_EQ(caught.code, 5);
  EXPECT_THAT(TempDir::read(dir_.file("edited.html")),
              AllOf(HasSubstr("DO NOT TRUST"), HasSubstr("claimed 0.1, but the run costs")));
}

TEST_F(Report, Mistakes) {
  EXPECT_EQ(sotto({"report"}).code, 2);
  EXPECT_EQ(sotto({"report", dir_.file("none.json")}).code, 6);
  EXPECT_EQ(sotto({"report", dir_.write("cut.json", "{\"sotto_run\":")}).code, 3);
  const auto unwritable = train({"--report /no/such/folder/run.html"});
  EXPECT_EQ(unwritable.code, 6);
  EXPECT_FALSE(exists("model.json.journal")) << "a wrong path must not cost budget";
  const auto other_kind = train({"--plot", dir_.file("run.pdf")});
  EXPECT_EQ(other_kind.code, 2);
  EXPECT_THAT(other_kind.err, HasSubstr(".svg and .png"));
  EXPECT_FALSE(exists("model.json.journal"));
}

TEST_F(Report, WithoutGnuplotAPlotIsRefusedBeforeAnythingIsSpent) {
  const auto run = train({"--plot", dir_.file("run.svg")}, "PATH=/nowhere");
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("apt install gnuplot-nox"));
  EXPECT_FALSE(exists("model.json.journal"));
}

TEST_F(Report, Plots) {
  if (std::system("command -v gnuplot >/dev/null") != 0) GTEST_SKIP() << "gnuplot is not here";
  const auto run =
      train({"--test", test_, "--record", dir_.file("run.json"), "--plot", dir_.file("it's.svg")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(TempDir::read(dir_.file("it's.svg")),
              AllOf(HasSubstr("<svg"), HasSubstr("Released gradient norms")));
  const auto png = sotto({"report", dir_.file("run.json"), "--plot", dir_.file("run.png")});
  ASSERT_EQ(png.code, 0) << png.err;
  EXPECT_EQ(TempDir::read(dir_.file("run.png")).substr(1, 3), "PNG");
  EXPECT_FALSE(exists("run.html")) << "not asked for";
}

/// Everything that the program writes to a terminal of 80 columns.
std::string on_a_terminal(const Words& arguments, const char* terminal) {
  winsize size{};
  size.ws_row = 24;
  size.ws_col = 80;
  int end = -1;
  const pid_t child = ::forkpty(&end, nullptr, nullptr, &size);
  if (child == 0) {
    ::setenv("TERM", terminal, 1);
    ::setenv("LC_ALL", "C", 1);
    std::vector<char*> words = {const_cast<char*>(SOTTO_BINARY)};
    for (const auto& each : arguments) words.push_back(const_cast<char*>(each.c_str()));
    words.push_back(nullptr);
    ::execv(SOTTO_BINARY, words.data());
    ::_exit(127);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(end, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(end);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << text;
  return text;
}

TEST_F(Report, ATerminalShowsTheRunLive) {
  const Words command = {
      "train --again --epsilon 1 --delta 1e-4 --row-norm 1 --dim 2", data_, dir_.file("m.json")};
  const std::string shown = on_a_terminal(command, "xterm");
  EXPECT_THAT(shown,
              AllOf(HasSubstr("dp-gd [##"),
                    HasSubstr("  costs epsilon 1, "),
                    HasSubstr("released gradient norm")));
  EXPECT_THAT(on_a_terminal(command, "dumb"),
              AllOf(HasSubstr("dp-gd [##"), Not(HasSubstr("released gradient norm"))));
  EXPECT_THAT(on_a_terminal(command + "--quiet", "xterm"), Not(HasSubstr("dp-gd [##")));
}

}  // namespace
}  // namespace sotto::testing
