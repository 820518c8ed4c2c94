// Deliberately leaky twins: each must be caught by the very comparison that the neighbour table
// makes, and the honest program must not.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "sotto/audit/made_up_claim.hpp"
#include "sotto/mechanism/exponential.hpp"
#include "sotto/mechanism/gaussian.hpp"
#include "sotto/mechanism/grid.hpp"
#include "sotto/mechanism/laplace.hpp"
#include "sotto/mechanism/release_tap.hpp"
#include "tests/neighbours/lines.hpp"
#include "tests/support/receipts.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<double> rows() {
  std::ifstream file("rows");
  return {std::istream_iterator<double>(file), {}};
}

SensitivityClaim claim(double sensitivity) { return MadeUpClaim::of(sensitivity); }

/// Noise on the sum of the rows, each clipped to [-clip, clip].
double noisy_sum(double sensitivity, double clip = 1) {
  double sum = 0;
  for (const double row : rows()) sum += std::clamp(row, -clip, clip);
  Stream noise = Stream::seeded(5, Purpose::kNoise);
  const Event event = Event::gaussian(2, Relation::kZeroOut);
  return GaussianMechanism::release(Sensitive<Vector>(Vector::Constant(1, sum), claim(sensitivity)),
                                    test_receipt(event, 1),
                                    2,
                                    noise)
      .value()[0];
}

double noisy_count_below(double sensitivity) {
  double count = 0;
  for (const double row : rows()) count += row < 0.3;
  Stream noise = Stream::seeded(5, Purpose::kNoise);
  return LaplaceMechanism::release(Sensitive<double>(count, claim(sensitivity)),
                                   test_receipt(Event::laplace(2, Relation::kZeroOut), 1),
                                   2,
                                   noise)
      .value();
}

std::int64_t choice(double sensitivity, ScoreMotion motion) {
  Vector scores = Vector::Zero(2);
  for (const double row : rows()) scores += Vector{{row / 10, -row / 10}};
  Stream noise = Stream::seeded(5, Purpose::kSelection);
  return ExponentialMechanism::release(Sensitive<Vector>(std::move(scores), claim(sensitivity)),
                                       test_receipt(Event::exponential(1, Relation::kZeroOut), 1),
                                       1,
                                       motion,
                                       noise)
      .value();
}

int zeros() {
  int count = 0;
  for (const double row : rows()) count += row == 0;
  return count;
}

std::vector<std::string> compare(const Program& program) {
  const World a = run_world({{"rows", "0.5 -0.25 0.75 0"}}, program);
  const World b = run_world({{"rows", "0.5 -0.25 0.75 7"}}, program, &a);
  return differences(a, b);
}

TEST(LeakyTwins, TheHonestProgramIsNotTold) {
  EXPECT_THAT(compare([] {
                fmt::print("sum {}\n", noisy_sum(1));
                fmt::print(stderr, "count {}\n", noisy_count_below(1));
                std::ofstream("run.json") << choice(1, ScoreMotion::kAny);
                return 0;
              }),
              IsEmpty());
}

TEST(LeakyTwins, ABlockSizeThatFollowsTheRowsInAClaim) {
  EXPECT_THAT(compare([] {
                const int block = 64 / (4 - zeros());
                noisy_sum(1 + block * 0x1p-52);
                return 0;
              }),
              Contains(StartsWith("releases: line 0")));
}

TEST(LeakyTwins, AGridThatFollowsTheRows) {
  EXPECT_THAT(compare([] {
                internal::grid_unit(1 + 1e-9 * zeros(), 1024, 1);
                noisy_sum(1);
                return 0;
              }),
              Contains(StartsWith("releases: line 0")));
}

// A mechanism that rounds to a grid of its own, whatever its claim gives.
TEST(LeakyTwins, AnAnswerOffItsGrid) {
  World world = run_world({{"rows", "0.5 0.25"}}, [] {
    noisy_sum(1);
    return 0;
  });
  EXPECT_THAT(world.faults, IsEmpty());
  EXPECT_THAT(run_world({{"rows", "0.5 0.25"}},
                        [] {
                          // The claim's own grid was made; another one is asked for after it.
                          struct Late : ReleaseTap {
                            ReleaseTap* next;
                            void opened(const std::type_info& type,
                                        void* value,
                                        const SensitivityClaim& claim) override {
                              next->opened(type, value, claim);
                            }
                            void grid(double s, double reach, double rounding, double u) override {
                              next->grid(s, reach, rounding, u * (1 + 0x1p-30));
                            }
                            void released(const std::type_info& type,
                                          void* value,
                                          const Event& event) override {
                              next->released(type, value, event);
                            }
                          } late;
                          late.next = listen_to_releases(&late);
                          noisy_sum(1);
                          listen_to_releases(late.next);
                          return 0;
                        })
                  .faults,
              Contains(HasSubstr("not on its grid")));
}

TEST(LeakyTwins, ASumWhoseClipIsBroken) {
  EXPECT_THAT(compare([] {
                noisy_sum(1, /*clip=*/1.5);
                return 0;
              }),
              Contains(HasSubstr("sums: the Vector of release 0 moves by 1.5")));
}

TEST(LeakyTwins, ACountThatMovesByMoreThanClaimed) {
  EXPECT_THAT(compare([] {
                noisy_count_below(0.5);
                return 0;
              }),
              Contains(HasSubstr("sums: the double")));
}

TEST(LeakyTwins, ScoresThatAreNotMonotone) {
  EXPECT_THAT(compare([] {
                choice(1, ScoreMotion::kMonotone);
                return 0;
              }),
              Contains(HasSubstr("move both ways")));
}

TEST(LeakyTwins, AReleaseMoreForSomeRows) {
  EXPECT_THAT(compare([] {
                for (int k = 0; k <= zeros(); ++k) noisy_sum(1);
                return 0;
              }),
              Contains(HasSubstr("releases: A has 6 lines, B has 3")));
}

TEST(LeakyTwins, AStopThatLooksAtTheTrueSum) {
  EXPECT_THAT(compare([] {
                double sum = 0;
                for (const double row : rows()) sum += row;
                for (int step = 0; step < 3; ++step) {
                  noisy_sum(1);
                  if (sum > 5) break;
                }
                return 0;
              }),
              Contains(HasSubstr("releases: A has")));
}

TEST(LeakyTwins, AnAnswerOfAnUnknownKind) {
  struct Strange {};
  const World world = run_world({}, [] {
    Strange strange;
    internal::tell_released(typeid(Strange), &strange, Event::gaussian(1, Relation::kZeroOut));
    return 0;
  });
  EXPECT_THAT(world.faults, Contains(HasSubstr("unknown type")));
}

// The real program, and something that a row decides after it.
class LeakyProgram : public ::testing::Test {
 protected:
  /// What differs if `leak(zeros)` follows a run of dp-gd on persons; zeros: rows of the last one.
  static std::vector<std::string> compare_with(const std::function<int(int rows)>& leak) {
    const TableKind* table = nullptr;
    for (const TableKind& kind : table_kinds())
      if (kind.name == "persons") table = &kind;
    const Line line{&method_lines().front(), table, Relation::kReplaceOne, Unit::kManyRows};
    const Program honest = sotto_program(command(line));
    const Program leaky = [&] {
      const int code = honest();
      const std::string text = TempDir::read("d.csv");
      int rows = 0;
      for (std::size_t at = 0; (at = text.find("somebody", at)) != text.npos; ++at) ++rows;
      const int more = leak(rows);
      return code == 0 ? more : code;
    };
    const World a = run_world(*table->files(Unit::kOrdinary), leaky);
    EXPECT_EQ(a.faults.size(), 0u);
    const World b = run_world(*table->files(Unit::kManyRows), leaky, &a);
    return differences(a, b);
  }
};

TEST_F(LeakyProgram, TheHonestProgramIsNotTold) {
  EXPECT_THAT(compare_with([](int) { return 0; }), IsEmpty());
}

// What the program says itself that it is not private.
TEST_F(LeakyProgram, UnsafeDiagnosticsAreTold) {
  const TableKind& table = table_kinds().front();
  const Line line{&method_lines().front(), &table, Relation::kReplaceOne, Unit::kOther};
  Words words = command(line);
  words.insert(words.begin() + 1, "--unsafe-diagnostics");
  const Program program = sotto_program(words);
  const World a = run_world(*table.files(Unit::kOrdinary), program);
  const World b = run_world(*table.files(Unit::kOther), program, &a);
  EXPECT_EQ(a.exit_code, 0);
  EXPECT_THAT(differences(a, b), Contains(StartsWith("record: ")));
  EXPECT_THAT(differences(a, b), Contains(StartsWith("stdout: ")));
}

TEST_F(LeakyProgram, AMessageWithTheRealizedNumberOfRows) {
  EXPECT_THAT(compare_with([](int rows) {
                fmt::print(stderr, "{} rows in the batch\n", rows);
                return 0;
              }),
              Contains(StartsWith("stderr: ")));
}

TEST_F(LeakyProgram, AnOutputThatDependsOnARow) {
  EXPECT_THAT(compare_with([](int rows) {
                fmt::print("{}\n", rows > 10 ? "large" : "small");
                return 0;
              }),
              Contains(StartsWith("stdout: ")));
}

TEST_F(LeakyProgram, ARecordWithARowsNumber) {
  EXPECT_THAT(compare_with([](int rows) {
                std::ofstream("run.json", std::ios::app) << fmt::format("{{\"norm\": {}}}\n", rows);
                return 0;
              }),
              Contains(StartsWith("record: ")));
}

TEST_F(LeakyProgram, AModelOfAnotherLength) {
  EXPECT_THAT(compare_with([](int rows) {
                std::ofstream("model.json", std::ios::app) << std::string(rows > 10, ' ');
                return 0;
              }),
              Contains(StartsWith("model: ")));
}

TEST_F(LeakyProgram, AJournalInChunksByRows) {
  EXPECT_THAT(compare_with([](int rows) {
                std::ofstream journal("model.json.journal", std::ios::app);
                for (int left = 8; left > 0; left -= rows > 10 ? 8 : 4)
                  journal << "{\"charge\":1}\n";
                return 0;
              }),
              Contains(StartsWith("journal: ")));
}

TEST_F(LeakyProgram, AnExitCodeThatDependsOnARow) {
  EXPECT_THAT(compare_with([](int rows) { return rows > 10 ? 7 : 0; }),
              Contains(StartsWith("exit code: ")));
}

TEST_F(LeakyProgram, AFileThatIsThereForSomeRows) {
  EXPECT_THAT(compare_with([](int rows) {
                if (rows > 10) std::ofstream("core") << "";
                return 0;
              }),
              Contains(StartsWith("file core: only world B")));
}

TEST_F(LeakyProgram, ACheckpointThatHoldsARow) {
  EXPECT_THAT(compare_with([](int rows) {
                std::ofstream("run.ckpt") << rows;
                return 0;
              }),
              Contains(StartsWith("checkpoint: ")));
}

}  // namespace
}  // namespace sotto::testing
