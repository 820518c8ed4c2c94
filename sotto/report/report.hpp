#pragma once

#include <string>

#include "sotto/core/error.hpp"
#include "sotto/record/run_record.hpp"

namespace sotto {

/// The report of a run as one self-contained HTML page, for a reader who decides about its release:
/// what `sotto train --report` writes.
Expected<std::string> report_page(const RunRecord& record);

}  // namespace sotto
