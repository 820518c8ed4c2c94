#pragma once

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/oracle/api/observer.hpp"

namespace sotto::study {

/// Shows what is going on and says whether to go on: false stops.
using ShowProgress = std::function<bool(const std::string&)>;

/// Tells now and then how far a run is, and stops it when it is told to.
class RunWatch final : public Observer {
 public:
  RunWatch(std::string what, ShowProgress show) : what_(std::move(what)), show_(std::move(show)) {}

  bool keep_going(const StepReport& report) override {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(200)) return true;
    last_ = now;
    stopped_ = !show_(fmt::format("{}, step {} of {}", what_, report.step, report.steps));
    return !stopped_;
  }

  bool stopped() const { return stopped_; }

 private:
  std::string what_;
  ShowProgress show_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool stopped_ = false;
};

inline tl::unexpected<Error> interrupted() {
  return fail(ErrorKind::kNoModel,
              "interrupted; finished cells are kept, and ‘resume’ continues them.");
}

}  // namespace sotto::study
