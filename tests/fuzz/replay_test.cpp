// The fuzzers' corpus, replayed: every input that ever taught a fuzzer something, and every one
// that was a finding.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/fuzz/targets.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto::fuzz {
namespace {

namespace fs = std::filesystem;

class Corpus : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, unused] : targets()) all.push_back(name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Targets, Corpus, ::testing::ValuesIn(names()), [](const auto& each) {
  return each.param;
});

TEST_P(Corpus, IsMetWithoutHarm) {
  const fs::path folder = fs::path(SOTTO_SOURCE_DIR) / "tests/fuzz/corpus" / GetParam();
  ASSERT_TRUE(fs::is_directory(folder)) << "every target has a corpus";
  int inputs = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string input = testing::TempDir::read(entry.path().string());
    targets().at(GetParam())(input);
    // Cut short, too.
    for (std::size_t end = 0; end < std::min<std::size_t>(input.size(), 200); end += 7)
      targets().at(GetParam())(std::string_view(input).substr(0, end));
    ++inputs;
  }
  EXPECT_GT(inputs, 0);
}

}  // namespace
}  // namespace sotto::fuzz
