#pragma once

#include <cstdint>
#include <string>

#include "sotto/task/network_setup.hpp"
#include "verb.hpp"

namespace sotto::app {

/// The options that say which network: of `train` and `audit`.
struct NetworkArguments {
  std::string model;  ///< a built-in name or a model file; empty: a linear model
  std::uint64_t initial_seed = 0;
  std::string pretrained_path;  ///< a model whose weights training starts from
  std::string mean, deviation;  ///< numbers with commas between them

  void add_to(Verb& verb);
  Expected<NetworkOptions> options() const;
};

}  // namespace sotto::app
