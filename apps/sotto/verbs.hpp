#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "sotto/core/error.hpp"

namespace sotto::app {

/// What a verb does once the command line is parsed; an error becomes a message and an exit code.
using Action = std::function<Expected<int>()>;

/// Each verb's file adds its subcommand and returns what it does.
Action add_train(CLI::App& app);
Action add_predict(CLI::App& app);
Action add_export(CLI::App& app);
Action add_account(CLI::App& app);
Action add_calibrate(CLI::App& app);
Action add_methods(CLI::App& app);
Action add_data(CLI::App& app);
Action add_audit(CLI::App& app);
Action add_verify(CLI::App& app);
Action add_report(CLI::App& app);
Action add_demo(CLI::App& app);
Action add_reproduce(CLI::App& app);

}  // namespace sotto::app
