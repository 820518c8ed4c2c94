#include "sotto/data/date_form.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>

#include "sotto/core/text.hpp"

namespace sotto {
namespace {

constexpr std::string_view kParts = "YmdHMS";
constexpr double kSecondsPerDay = 86400;

/// What parts are read of `text`, in the order of kParts; false if there is no such number.
bool read_part(std::size_t part, std::string_view& text, std::array<int, 6>& values) {
  const std::size_t most = part == 0 ? 4 : 2;
  std::size_t digits = 0;
  int value = 0;
  while (digits < most && digits < text.size() && text[digits] >= '0' && text[digits] <= '9')
    value = value * 10 + (text[digits++] - '0');
  if (digits == 0 || (part == 0 && digits < most)) return false;
  text.remove_prefix(digits);
  values[part] = value;
  return true;
}

}  // namespace

Expected<DateForm> DateForm::parse(std::string_view form) {
  const auto bad = [&](const char* why) {
    return fail(ErrorKind::kUsage,
                fmt::format("'{}' is no form of dates: {}. One is made of %Y, %m, %d, %H, %M and "
                            "%S, for example %Y-%m-%d.",
                            form,
                            why));
  };
  std::string seen;
  for (std::size_t k = 0; k < form.size(); ++k) {
    if (form[k] != '%') continue;
    const char part = ++k < form.size() ? form[k] : '\0';
    if (part == '%') continue;
    if (kParts.find(part) == kParts.npos || part == '\0') return bad("it has another % part");
    if (seen.find(part) != seen.npos) return bad("it has a part twice");
    seen += part;
  }
  if (seen.find('Y') == seen.npos) return bad("it has no %Y");
  if (has_control_characters(form)) return bad("it has a control character");
  return DateForm(form);
}

double DateForm::days(std::string_view text) const {
  std::array<int, 6> values = {0, 1, 1, 0, 0, 0};
  for (std::size_t k = 0; k < form_.size(); ++k) {
    if (form_[k] == '%' && form_[++k] != '%') {
      if (!read_part(kParts.find(form_[k]), text, values)) return NAN;
      continue;
    }
    if (text.empty() || text.front() != form_[k]) return NAN;
    text.remove_prefix(1);
  }
  const auto [year, month, day, hours, minutes, seconds] = values;
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!text.empty() || !date.ok() || hours > 23 || minutes > 59 || seconds > 59) return NAN;
  const auto whole = std::chrono::sys_days(date).time_since_epoch().count();
  return static_cast<double>(whole) + ((hours * 60 + minutes) * 60 + seconds) / kSecondsPerDay;
}

std::string DateForm::text(double days) const {
  const double seconds_in_all = std::round(days * kSecondsPerDay);
  const double whole = std::floor(seconds_in_all / kSecondsPerDay);
  const auto seconds = static_cast<int>(seconds_in_all - whole * kSecondsPerDay);
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(whole)))};
  std::string result;
  for (std::size_t k = 0; k < form_.size(); ++k) {
    const char part = form_[k] == '%' ? form_[++k] : '\0';
    switch (part) {
      case 'Y':
        result += fmt::format("{:04}", static_cast<int>(date.year()));
        break;
      case 'm':
        result += fmt::format("{:02}", static_cast<unsigned>(date.month()));
        break;
      case 'd':
        result += fmt::format("{:02}", static_cast<unsigned>(date.day()));
        break;
      case 'H':
        result += fmt::format("{:02}", seconds / 3600);
        break;
      case 'M':
        result += fmt::format("{:02}", seconds / 60 % 60);
        break;
      case 'S':
        result += fmt::format("{:02}", seconds % 60);
        break;
      default:
        result += form_[k];
    }
  }
  return result;
}

}  // namespace sotto
