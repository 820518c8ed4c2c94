#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sotto/core/error.hpp"

namespace sotto {

/// How dates are written: %Y (four digits), %m, %d, %H, %M and %S (one or two digits) each once, %Y
/// at least, `%%` for a percent sign, and any other characters as they stand. The same whatever the
/// locale and the time zone.
class DateForm {
 public:
  /// kUsage: it is none.
  static Expected<DateForm> parse(std::string_view form);

  /// Days since 1970-01-01 in the Gregorian calendar, also before it was made; hours, minutes and
  /// seconds are parts of a day. NaN if the whole text is no date of this form.
  double days(std::string_view text) const;
  /// The text of a number of days.
  std::string text(double days) const;

 private:
  explicit DateForm(std::string_view form) : form_(form) {}
  std::string form_;
};

}  // namespace sotto
