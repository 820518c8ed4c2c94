#pragma once

#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "verb.hpp"

namespace sotto::app {

/// bash, zsh and fish.
const std::vector<std::string>& completion_shells();

/// A script that completes verbs, options and the words that options take, for one of these shells.
Expected<std::string> completion(const std::string& shell, const Verb& program);

}  // namespace sotto::app
