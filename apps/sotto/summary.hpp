#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sotto/model/metrics.hpp"
#include "sotto/training/train.hpp"

namespace sotto::app {

/// Accuracy line, AUC and confusion table (or errors, for regression) on standard output.
void print_metrics(const Metrics& metrics,
                   const std::vector<std::string>& class_names,
                   const std::string& what);

/// By the classes' names or numbers; nothing if there are too many for a screen.
void print_confusion(const Confusion& confusion, std::vector<std::string> names);

/// Accuracy, beside that of predicting the largest class for every row.
std::string accuracy_text(const Confusion& confusion, const std::vector<std::string>& names);
/// That no row is predicted to be of this class.
std::string never_predicted_text(const Confusion& confusion,
                                 const std::vector<std::string>& names,
                                 std::size_t c);
/// What to do about classes that are never predicted.
inline constexpr const char* kWeighClasses =
    "Training with --class-weight CLASS=W counts the rows of a class W times.";
/// That probabilities are worse than the classes' shares, and what helps; empty if they are not.
std::string worse_than_shares_text(double log_loss, const Confusion& confusion);
/// Warns of classes that are never predicted, and of probabilities worse than the classes' shares.
void warn_of_classes(const Metrics& metrics, const std::vector<std::string>& class_names);

/// A number's text with at most 6 significant digits; other texts as they are.
std::string short_number(const std::string& text);

nlohmann::json to_json(const PreparedRun& run, const TrainOptions& options);

/// What the run will cost, however early it stops; none if it is not private.
std::optional<double> price_of(const PreparedRun& run);

/// On standard error, for --unsafe-diagnostics only: how long it took, which depends on the rows.
void print_timings(double load_seconds, const TrainResult& result);

/// Expected passes over the data of a planned run; none for a run that is not private or follows a
/// filter, whose number of releases is open.
std::optional<double> planned_passes(const PreparedRun& run);

/// Settings and price of a run that is about to start, on standard error.
void print_prepared(const PreparedRun& run,
                    const PublicProblem& problem,
                    const TrainOptions& options);
/// All that a dry run shows; with the speed of gradients here, if it is known, how long it takes.
void print_plan(const PreparedRun& run,
                const PublicProblem& problem,
                const TrainOptions& options,
                bool json,
                std::optional<double> examples_a_second);

/// The certificate and what the evaluation log adds.
void print_measures(const RunRecord& record);

}  // namespace sotto::app
