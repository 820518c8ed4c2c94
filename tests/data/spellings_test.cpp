#include "sotto/data/spellings.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>

namespace sotto {
namespace {

TEST(Spellings, NoneAreFoundAmongNone) {
  EXPECT_EQ(Spellings().find(""), Spellings::kNone);
  EXPECT_EQ(Spellings().find("a"), Spellings::kNone);
}

/// Texts of all sizes from 0 to 24, many of which differ in one byte only.
TEST(Spellings, FindsWhatAMapFinds) {
  std::mt19937 random(1);  // a test of equality: any seed must do
  for (const std::size_t count : {1U, 3U, 16U, 17U, 1000U, 20000U}) {
    Spellings spellings;
    std::map<std::string, std::int32_t> map;
    const auto text = [&] {
      std::string made(random() % 25, 'a');
      for (std::size_t changes = random() % 3; changes > 0 && !made.empty(); --changes)
        made[random() % made.size()] = static_cast<char>(random() % 256);
      return made;
    };
    for (std::size_t k = 0; k < count; ++k) {
      const std::string made = text();
      map.emplace(made, static_cast<std::int32_t>(k));
      spellings.add(made, static_cast<std::int32_t>(k));
    }
    for (const auto& [each, value] : map) ASSERT_EQ(spellings.find(each), value) << each;
    for (int k = 0; k < 20000; ++k) {
      const std::string other = text();
      // A text that ends where memory does: a sanitizer sees who reads beyond it.
      const std::unique_ptr<char[]> exact(new char[other.size()]);
      std::memcpy(exact.get(), other.data(), other.size());
      const auto found = map.find(other);
      ASSERT_EQ(spellings.find({exact.get(), other.size()}),
                found == map.end() ? Spellings::kNone : found->second)
          << other;
    }
  }
}

TEST(Spellings, TextsWithTheSameBeginningAndEnd) {
  Spellings spellings;
  spellings.add("Orthopedics", 0);
  spellings.add("Orthopedics-Reconstructive-Orthopedics", 1);
  spellings.add("Orthopedics-reconstructive-Orthopedics", 2);
  EXPECT_EQ(spellings.find("Orthopedics"), 0);
  EXPECT_EQ(spellings.find("Orthopedics-Reconstructive-Orthopedics"), 1);
  EXPECT_EQ(spellings.find("Orthopedics-reconstructive-Orthopedics"), 2);
  EXPECT_EQ(spellings.find("Orthopedics-REconstructive-Orthopedics"), Spellings::kNone);
}

}  // namespace
}  // namespace sotto
