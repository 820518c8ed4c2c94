#pragma once

#include <string>

#include "verb.hpp"

namespace sotto::app {

/// The name of a verb's page: `sotto-data-fetch`.
std::string man_name(const Verb& verb);

/// A verb's man page, section 1, in troff: made from what its help is made from, with the options
/// of all methods.
std::string man_page(const Verb& verb);

}  // namespace sotto::app
