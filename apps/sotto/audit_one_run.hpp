#pragma once

#include <string>
#include <vector>

#include "data_options.hpp"
#include "network_arguments.hpp"
#include "sotto/audit/one_run.hpp"
#include "sotto/core/error.hpp"
#include "verb.hpp"

namespace sotto::app {

/// `sotto audit --one-run`: what it needs beside the options of every audit.
struct OneRunArguments {
  std::string data_path;
  DataArguments data;
  NetworkArguments network;  ///< added by the verb: every audit has these
  std::string loss = "logistic";
  std::string class_weights;
  std::string regularizer = "none";
  std::string neighbours = "zero-out";
  std::string report_path;  ///< empty: no report
  OneRunOptions options;
  TrainOptions train;
  bool json = false;
  bool quiet = false;
  std::vector<std::string> of_training;  ///< options that audits on made-up data don't have

  void add_to(Verb& verb);
  /// kUsage if one of the options that only a training has is on the command line.
  Expected<void> check_none_given(const Verb& verb) const;
};

/// Loads, trains once with canaries, guesses and prints; the exit code.
Expected<int> audit_one_run(const OneRunArguments& arguments);

}  // namespace sotto::app
