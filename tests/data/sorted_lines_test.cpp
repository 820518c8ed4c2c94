#include "sotto/data/io/sorted_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace sotto {
namespace {

using Pairs = std::vector<std::pair<double, std::int64_t>>;

/// Many equal keys, in no order.
Pairs some_keys(int n) {
  Pairs keys;
  for (int i = 0; i < n; ++i) keys.emplace_back(i * 7919 % 97, i);
  return keys;
}

std::vector<std::int64_t> order_of(Pairs keys, std::size_t most) {
  std::stable_sort(
      keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::int64_t> numbers;
  for (const auto& [key, number] : keys)
    if (most == 0 || numbers.size() < most) numbers.push_back(number);
  return numbers;
}

std::string text_of(std::int64_t number) {
  return std::string(static_cast<std::size_t>(number % 50), 'x') + std::to_string(number);
}

TEST(SortedLines, AreInOrderWhateverFitsIntoMemory) {
  const Pairs keys = some_keys(5000);
  for (const std::size_t memory :
       {std::size_t{1}, std::size_t{3000}, std::size_t{100000}, SortedLines::kMemory})
    for (const std::int64_t most : {0, 1, 100, 4000, 10000}) {
      SortedLines lines(memory, most);
      for (const auto& [key, number] : keys) ASSERT_TRUE(lines.add(key, number, text_of(number)));
      EXPECT_EQ(lines.runs() > 0,
                memory < SortedLines::kMemory && (most != 1 || memory < 3000) &&
                    (most != 100 || memory < 100000))
          << memory << " " << most;
      std::vector<std::int64_t> numbers;
      const auto done = std::move(lines).for_each(
          [&](std::int64_t number, std::string_view text) -> Expected<void> {
            EXPECT_EQ(text, text_of(number));
            numbers.push_back(number);
            return {};
          });
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_EQ(numbers, order_of(keys, static_cast<std::size_t>(most))) << memory << " " << most;
    }
}

TEST(SortedLines, KeepNotManyMoreThanAreWanted) {
  SortedLines lines(SortedLines::kMemory, 10);
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(lines.add(i, i, "line"));
  EXPECT_GT(lines.least(), 90'000);
}

TEST(SortedLines, AFailureEndsThem) {
  SortedLines lines;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(lines.add(i, i, ""));
  int calls = 0;
  const auto done =
      std::move(lines).for_each([&](std::int64_t, std::string_view) -> Expected<void> {
        ++calls;
        return fail(ErrorKind::kIo, "full");
      });
  EXPECT_FALSE(done);
  EXPECT_EQ(calls, 1);
}

TEST(SortedLines, SayWhereThereIsNoRoomForMore) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("TMPDIR", "/nowhere/at/all", 1);
  SortedLines lines(1);
  const auto added = lines.add(1, 1, "line");
  if (before != nullptr)
    ::setenv("TMPDIR", kept.c_str(), 1);
  else
    ::unsetenv("TMPDIR");
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().kind, ErrorKind::kIo);
  EXPECT_THAT(added.error().message, ::testing::HasSubstr("Set TMPDIR"));
}

}  // namespace
}  // namespace sotto
