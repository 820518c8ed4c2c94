#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto {

/// What becomes of a row that does not fit what is declared. There is no third way.
enum class Misfits {
  kRefuse,  ///< the whole file is refused, before anything is charged
  kNull,    ///< the declared filler, or a null unit; nothing outside the table depends on it
};

/// How many rows that do not fit are listed.
inline constexpr std::int64_t kShownRefusals = 10;

/// How large what is read may be. A file from somewhere must not be able to take all memory: a
/// gzip of 3 MB can unpack to 3 GB. The limits are public, and whoever has larger files raises
/// them.
struct InputLimits {
  static constexpr std::int64_t kFileBytes = std::int64_t{64} << 30;
  static constexpr std::int64_t kUnpackedBytes = std::int64_t{1} << 30;
  static constexpr std::int64_t kUnpackedRatio = 50;
  static constexpr std::size_t kLineBytes = std::size_t{64} << 20;
  static constexpr std::size_t kFieldBytes = std::size_t{1} << 20;

  std::int64_t file_bytes = kFileBytes;  ///< on the disk
  /// What a .gz may become; 0: kUnpackedBytes, or kUnpackedRatio times its bytes on the disk where
  /// that is more. Text packs by a factor of 5 to 20.
  std::int64_t unpacked_bytes = 0;
  std::size_t line_bytes = kLineBytes;    ///< a longer line is a row that does not fit
  std::size_t field_bytes = kFieldBytes;  ///< likewise a CSV row with a longer field
};

}  // namespace sotto
