#include "tests/faults/trial.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "apps/sotto/command_line.hpp"
#include "sotto/core/stop.hpp"
#include "sotto/mechanism/release_tap.hpp"
#include "sotto/model/model.hpp"
#include "sotto/privacy/journal.hpp"
#include "tests/support/command.hpp"

namespace sotto::testing {

namespace fs = std::filesystem;

namespace {

class Counter final : public ReleaseTap {
 public:
  Counter() : before_(listen_to_releases(this)) {}
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter() override { listen_to_releases(before_); }
  void opened(const std::type_info&, void*, const SensitivityClaim&) override {}
  void grid(double, double, double, double) override {}
  void released(const std::type_info&, void*, const Event&) override { ++count; }
  std::int64_t count = 0;

 private:
  ReleaseTap* before_;
};

/// Standard output and error in files while it lives.
class Captured {
 public:
  explicit Captured(const TempDir& dir) : paths_{dir.file("out"), dir.file("err")} {
    flush();
    for (int k = 0; k < 2; ++k) {
      saved_[at(k)] = ::dup(k + 1);
      const int file = ::open(paths_[at(k)].c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(file, k + 1);
      ::close(file);
    }
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured() {
    flush();
    for (int k = 0; k < 2; ++k) {
      ::dup2(saved_[at(k)], k + 1);
      ::close(saved_[at(k)]);
    }
  }

 private:
  static std::size_t at(int k) { return static_cast<std::size_t>(k); }
  static void flush() {
    std::fflush(stdout);
    std::fflush(stderr);
  }
  std::array<std::string, 2> paths_;
  std::array<int, 2> saved_{};
};

}  // namespace

Outcome Trial::run_on(FileSystem& disk, const Words& arguments) const {
  forget_stop();
  const TempDir dir;
  const char* before = std::getenv("TMPDIR");
  const std::string usual = before != nullptr ? before : "/tmp";
  ::setenv("TMPDIR", dir_.file("tmp").c_str(), 1);
  Outcome outcome;
  {
    const Captured captured(dir);
    Counter counter;
    const FileSystemInUse in_use(disk);
    try {
      outcome.code = app::run_command_line(arguments);
    } catch (const Killed&) {
      outcome.killed = true;
    }
    outcome.released = counter.count;
  }
  forget_stop();  // which was for the command, not for what the test reads afterwards
  ::setenv("TMPDIR", usual.c_str(), 1);
  outcome.out = TempDir::read(dir.file("out"));
  outcome.err = TempDir::read(dir.file("err"));
  return outcome;
}

Trial::Trial(std::string method) : method_(std::move(method)) {
  dir_.write("rows.svm", small_libsvm(40));
  fs::create_directories(dir_.file("tmp"));
}

Words Trial::train() const {
  // Whatever a fault left behind: what has no state to resume is paid for again.
  Words words = {"train --again --method",
                 method_ == "network" ? "dp-sgd" : method_,
                 "--delta 1e-5 --dim 2 --threads 1 --quiet --record",
                 file("run.json"),
                 "--checkpoint",
                 file("run.ckpt"),
                 "--every 1 --resume"};
  if (method_ == "network")
    words += "--model softmax --classes -1,+1 --noise-multiplier 3 --steps 4";
  else if (method_ == "dp-sgd")
    words += "--row-norm 1.5 --noise-multiplier 3 --steps 4";
  else
    words += "--row-norm 1.5 --epsilon 8 --steps 4 --noise adaptive --step-rule adagrad";
  return words + Words{"--expected-batch 10", file("rows.svm"), file("model.json")};
}

Words Trial::predict() const {
  return {"predict", file("rows.svm"), file("model.json"), file("predicted.csv")};
}

Words Trial::predict_sorted() const {
  return "predict --sort --flag-share 0.1 --sort-memory 400" +
         Words{file("rows.svm"), file("model.json"), file("sorted.csv.gz")};
}

Words Trial::verify() const { return {"verify", file("run.json")}; }

Words Trial::report() const { return {"report --out", file("run.html"), file("run.json")}; }

Words Trial::audit_in_one_run() const {
  Words words = {
      "audit --one-run --method dp-gd --canaries 10 --epsilon 1 --delta 1e-5 --dim 2 --steps 4 "
      "--threads 1 --quiet --journal",
      file("audit.journal"),
      "--report",
      file("audit.html")};
  if (method_ == "network")
    words += "--model softmax --classes -1,+1";
  else
    words += "--row-norm 1.5";
  words.push_back(file("rows.svm"));
  return words;
}

Words Trial::audit(int runs) const {
  Words words = {"audit --method dp-gd --epsilon 1 --delta 1e-5 --steps 2 --runs",
                 std::to_string(runs),
                 "--threads 1 --quiet --resume",
                 file("scores.json"),
                 "--roc",
                 file("roc.csv"),
                 "--report",
                 file("audit.html")};
  if (method_ == "network") words += "--model softmax";
  return words;
}

std::string Trial::problem(const Outcome& outcome, std::int64_t released) const {
  static const std::set<int> kDocumented = {0, 1, 2, 3, 4, 5, 6};
  if (!outcome.killed) {
    if (!kDocumented.contains(outcome.code)) return fmt::format("exit code {}", outcome.code);
    const bool answered = outcome.code == 0 || outcome.code == 5;  // 5: an audit that contradicts
    if (!answered && outcome.err.find("sotto: ") == std::string::npos) return "no message";
  }
  std::int64_t charged = 0;
  for (const char* name : {"model.json.journal", "audit.journal"}) {
    if (!fs::exists(file(name))) continue;
    const auto runs = read_journal(file(name));
    if (!runs) return runs.error().message;
    for (const JournalRun& run : *runs) {
      const auto terms = canonical(Event::compose(run.charged));
      if (!terms) return terms.error().message;
      for (const Term& term : terms->terms) charged += term.count;
    }
  }
  return charged >= released ? ""
                             : fmt::format("{} released, but only {} charged", released, charged);
}

void Trial::expect_accounted(const Outcome& outcome,
                             std::int64_t released,
                             const std::string& what) const {
  EXPECT_EQ(problem(outcome, released), "") << what << ": " << outcome.err;
}

bool Trial::model_is_kept(const Outcome& outcome) const {
  if (load_model(file("model.json"))) return true;
  for (const auto& entry : fs::directory_iterator(file("tmp")))
    if (load_model(entry.path().string())) return true;
  return outcome.out.find("\"sotto_model\"") != std::string::npos;
}

}  // namespace sotto::testing
