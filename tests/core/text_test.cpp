#include "sotto/core/text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sotto {
namespace {

// What changes how the rest of a line is shown, and is not seen itself.
const std::vector<std::string> kUnseen = {
    "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066",    "\u2067",   "\u2068",
    "\u2069", "\u200b", "\u200c", "\u200d", "\u200e", "\u200f",    "\u2028",   "\u2029",
    "\ufeff", "\u061c", "\u2060", "\u00ad", "\x1b",   "\x7f",      "\xc2\x9b", "\xff",
    "\xc3",   "\r",     "\b",     "\u180e", "\ufff9", "\U000e0041"};

TEST(Text, WhatIsNotSeenIsSpelledOut) {
  for (const std::string& each : kUnseen) {
    for (const std::string& shown : {escaped("a" + each + "b"), on_one_line("a" + each + "b")}) {
      EXPECT_EQ(shown.substr(0, 3), "a\\x") << shown;
      EXPECT_EQ(shown.find(each), std::string::npos) << shown;
    }
  }
  for (const std::string fine : {"gaussian(1)", "ä ω 漢字 😀", "a\\b"}) {
    EXPECT_EQ(escaped(fine), fine);
    EXPECT_EQ(on_one_line(fine), fine);
  }
}

TEST(Text, OnlyAWholeTextBreaksLines) {
  EXPECT_EQ(escaped("a\n\tb"), "a\n\tb");
  EXPECT_EQ(on_one_line("a\n\tb"), "a\\x0a\\x09b");
}

TEST(Text, AListIsTheProgramsOwnAndNothingInItBreaksALine) {
  const Error list = fail_with_list(ErrorKind::kBadData, {"one", "two\nforged"}).value();
  EXPECT_EQ(list.message, "one\ntwo\\x0aforged");
  EXPECT_TRUE(list.is_list);
  EXPECT_FALSE(fail(ErrorKind::kBadData, list.message).value().is_list);
}

TEST(Text, JsonStaysJson) {
  for (const std::string& each : kUnseen) {
    const std::string text = nlohmann::json({{"name", "a" + each}})
                                 .dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
    const std::string shown = escaped_json(text);
    EXPECT_EQ(nlohmann::json::parse(shown), nlohmann::json::parse(text)) << shown;
    EXPECT_EQ(shown.find(each), std::string::npos) << shown;
  }
}

}  // namespace
}  // namespace sotto
