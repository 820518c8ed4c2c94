#pragma once

// One command in this process, on a disk with a fault, and what must hold after it.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/faults/faulty_disk.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/words.hpp"

namespace sotto::testing {

struct Outcome {
  int code = -1;
  bool killed = false;
  std::string out;
  std::string err;
  std::int64_t released = 0;  ///< answers that left their mechanism
};

/// A folder with rows and commands on them.
class Trial {
 public:
  /// "dp-sgd", or "adp-sgd", whose noise a filter grants; "network" trains one with dp-sgd.
  explicit Trial(std::string method);

  /// Runs the command in this process with all its file calls on `disk`.
  Outcome run_on(FileSystem& disk, const Words& arguments) const;

  Words train() const;
  Words predict() const;
  /// With most lines in a temporary file.
  Words predict_sorted() const;
  Words verify() const;
  Words report() const;
  /// On the rows, with a journal and a report; by dp-gd, whose noise is found at once.
  Words audit_in_one_run() const;
  /// On made-up rows, with the scores so far in a file that it resumes from.
  Words audit(int runs) const;
  std::string file(const std::string& name) const { return dir_.file(name); }
  std::string folder() const { return dir_.file(""); }

  /// After a command with a fault: a documented exit code with a message, and no answer that the
  /// journals do not hold. `released`: all answers until now.
  std::string problem(const Outcome& outcome, std::int64_t released) const;
  void expect_accounted(const Outcome& outcome,
                        std::int64_t released,
                        const std::string& what) const;
  /// Whether the model of a run is somewhere: under its name, in the folder for temporary files, or
  /// printed.
  bool model_is_kept(const Outcome& outcome) const;

 private:
  std::string method_;
  TempDir dir_;
};

}  // namespace sotto::testing
