#pragma once

// All that an author of methods needs beside sotto/sotto.hpp: what an oracle can be asked, how a
// plan is stated, options, and the plumbing of a loop (examples/4_own_method.cpp).

#include "sotto/optimizer/optimizer.hpp"
#include "sotto/optimizer/option_table.hpp"
#include "sotto/optimizer/parts/steps.hpp"
#include "sotto/optimizer/registry.hpp"
#include "sotto/oracle/api/derived_fact.hpp"
#include "sotto/oracle/api/oracle.hpp"
