#pragma once

#include "verbs.hpp"

namespace sotto::app {

/// `sotto data fetch`: adds it to the verb `data` and returns what it does.
Action add_data_fetch(Verb& data_verb);

}  // namespace sotto::app
