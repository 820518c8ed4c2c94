#pragma once

#include <string_view>

namespace sotto {

/// A field of a row that is NULL, which only databases have: it is missing, whatever texts stand
/// for missing values, and no text is. It is a view without data; an empty text has some.
inline bool is_null_field(std::string_view field) { return field.data() == nullptr; }

}  // namespace sotto
