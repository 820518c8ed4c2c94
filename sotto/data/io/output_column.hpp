#pragma once

#include <string>

namespace sotto {

/// A column of what is written. A file has no types; a database's table has.
struct OutputColumn {
  enum class Type { kText, kInteger, kReal };
  std::string name;
  Type type = Type::kText;
};

}  // namespace sotto
