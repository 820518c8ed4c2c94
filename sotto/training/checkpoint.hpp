#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/core/archive.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/journal.hpp"
#include "sotto/training/prepare.hpp"

namespace sotto {

/// A run's state in a file. It holds released values and public numbers only: never a key, a batch
/// or a row, nor any function of the rows that was not charged (checkpoint.proof.md).
///
/// What the run has cost is not for it to say, but for the journal: `spent` only tells which of the
/// journal's charges have their answers in the state.
///
/// The file: a line `sotto checkpoint 2`; a line of JSON with everything here but `state`; the
/// state's parts, binary, little-endian; the SHA-256 of all of it.
struct Checkpoint {
  std::string run;           ///< its name in the journal
  std::int64_t step = 0;     ///< finished
  std::int64_t steps = 0;    ///< planned
  double coin = 0;           ///< that random settings were drawn with: public
  std::string spent;         ///< charged for this state, in the grammar of events; or empty
  std::int64_t samples = 0;  ///< noise samples of these charges
  JournalHead head;          ///< the journal's last line then
  Facts facts;               ///< that must agree
  std::string state;         ///< the parts, as StateWriter wrote them
};

/// The whole file.
std::string to_bytes(const Checkpoint& checkpoint);

/// Atomically: the file holds the old checkpoint or the new one.
Expected<void> write_checkpoint(const Checkpoint& checkpoint, const std::string& path);

/// Any file that write_checkpoint did not write is kBadData; nothing in it can crash the program.
Expected<Checkpoint> read_checkpoint(const std::string& path);

/// Succeeds if the facts are the same; else names the first that differs, with both values.
Expected<void> check_facts(const Facts& facts,
                           const Checkpoint& checkpoint,
                           const std::string& path);

/// Appends the parts of a state to a text of bytes.
class StateWriter final : public Archive {
 public:
  bool loading() const override { return false; }
  std::string take() { return std::move(bytes_); }

 protected:
  void integer(const std::string&, std::int64_t&, std::int64_t, std::int64_t) override;
  void number(const std::string&, double&, double, double) override;
  void vector(const std::string&, Vector&) override;
  void numbers(const std::string&, std::vector<double>&, std::size_t) override;
  void text(const std::string&, std::string&) override;

 private:
  void head(const std::string& name, char kind, std::size_t count);
  void bytes(const void* data, std::size_t size);
  std::string bytes_;
};

/// Reads them back, in the same order.
class StateReader final : public Archive {
 public:
  /// `bytes` must outlive the reader; vectors must have `dimension` entries.
  StateReader(std::string_view bytes, Eigen::Index dimension)
      : bytes_(bytes), dimension_(dimension) {}

  bool loading() const override { return true; }
  void refuse(const std::string& what) override;
  /// The first failure; also one if something is left over.
  Expected<void> finish() const;

 protected:
  void integer(const std::string&, std::int64_t&, std::int64_t, std::int64_t) override;
  void number(const std::string&, double&, double, double) override;
  void vector(const std::string&, Vector&) override;
  void numbers(const std::string&, std::vector<double>&, std::size_t) override;
  void text(const std::string&, std::string&) override;

 private:
  /// The data of the next part, which has this name and kind and up to `most` entries.
  std::string_view part(const std::string& name, char kind, std::size_t most);
  std::string_view bytes_;
  Eigen::Index dimension_;
  std::string failure_;
};

}  // namespace sotto
