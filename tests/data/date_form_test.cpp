#include "sotto/data/date_form.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <ctime>

#include "tests/data/support.hpp"

namespace sotto {
namespace {

DateForm form(const std::string& text) {
  const auto parsed = DateForm::parse(text);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return *parsed;
}

/// The C library's own count of seconds, over all centuries.
TEST(DateForm, DaysAreThoseOfTheSystemsCalendar) {
  const DateForm day = form("%Y-%m-%d");
  int months_seen = 0;
  for (int year = 1; year < 10000; year += 7)
    for (int month = 1; month <= 12; ++month)
      for (const int date : {1, 28, 29, 30, 31}) {
        std::tm parts{};
        parts.tm_year = year - 1900;
        parts.tm_mon = month - 1;
        parts.tm_mday = date;
        const auto seconds = ::timegm(&parts);
        char text[32];
        std::snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, date);
        const bool exists = parts.tm_mday == date;  // else it ran over into the next month
        const double days = day.days(text);
        ASSERT_EQ(std::isnan(days), !exists) << text;
        if (!exists) continue;
        ASSERT_EQ(days, static_cast<double>(seconds) / 86400) << text;
        ASSERT_EQ(day.text(days), text);
        months_seen |= 1 << month;
      }
  EXPECT_EQ(months_seen, 0x1ffe);
}

TEST(DateForm, TimesArePartsOfADay) {
  const DateForm time = form("%Y-%m-%d %H:%M:%S");
  EXPECT_EQ(time.days("1970-01-02 12:00:00"), 1.5);
  EXPECT_EQ(time.days("1969-12-31 18:00:00"), -0.25);
  EXPECT_EQ(time.text(-0.25), "1969-12-31 18:00:00");
  for (int second = 0; second < 86400; second += 61) {
    const std::string text = time.text(20000 + second / 86400.0);
    EXPECT_NEAR(time.days(text), 20000 + second / 86400.0, 1e-9) << text;
  }
  for (const char* bad :
       {"1970-01-01 24:00:00", "1970-01-01 00:60:00", "1970-01-01 00:00:60", "1970-01-01"})
    EXPECT_TRUE(std::isnan(time.days(bad))) << bad;
}

TEST(DateForm, OtherForms) {
  EXPECT_EQ(form("%Y").days("1971"), 365);
  EXPECT_EQ(form("%m/%d/%Y").days("1/2/1970"), 1);
  EXPECT_EQ(form("%Y%m%d").days("19700103"), 2);
  EXPECT_EQ(form("100%% %Y").days("100% 1970"), 0);
  EXPECT_EQ(form("100%% %Y").text(0), "100% 1970");
  for (const char* bad : {"", "197", "19700", "1970 ", " 1970", "-970", "+970", "MCML"})
    EXPECT_TRUE(std::isnan(form("%Y").days(bad))) << bad;
  for (const char* bad : {"0/2/1970", "13/2/1970", "1/0/1970", "1/32/1970", "1/2/70", "001/2/1970"})
    EXPECT_TRUE(std::isnan(form("%m/%d/%Y").days(bad))) << bad;
}

TEST(DateForm, WhatIsNone) {
  EXPECT_FAILS(DateForm::parse(""), ErrorKind::kUsage, "it has no %Y");
  EXPECT_FAILS(DateForm::parse("%Y-%b"), ErrorKind::kUsage, "another % part");
  EXPECT_FAILS(DateForm::parse("%Y%"), ErrorKind::kUsage, "another % part");
  EXPECT_FAILS(DateForm::parse(std::string("%Y%\0", 4)), ErrorKind::kUsage, "another % part");
  EXPECT_FAILS(DateForm::parse("%Y%Y"), ErrorKind::kUsage, "a part twice");
  EXPECT_FAILS(DateForm::parse("%Y\n"), ErrorKind::kUsage, "a control character");
}

}  // namespace
}  // namespace sotto
