#pragma once

#include <functional>

#include "sotto/core/error.hpp"
#include "verb.hpp"

namespace sotto::app {

/// What a verb does once the command line is parsed; an error becomes a message and an exit code.
using Action = std::function<Expected<int>()>;

/// Each verb's file adds its subcommand and returns what it does.
Action add_train(Verb& app);
Action add_predict(Verb& app);
Action add_evaluate(Verb& app);
Action add_recalibrate(Verb& app);
Action add_show(Verb& app);
Action add_export(Verb& app);
Action add_account(Verb& app);
Action add_calibrate(Verb& app);
Action add_methods(Verb& app);
Action add_data(Verb& app);
Action add_schema(Verb& app);
Action add_audit(Verb& app);
Action add_verify(Verb& app);
Action add_report(Verb& app);
Action add_demo(Verb& app);
Action add_reproduce(Verb& app);
Action add_completion(Verb& app);
Action add_version(Verb& app);
/// The last: it knows those that are there.
Action add_help(Verb& app);

}  // namespace sotto::app
