#pragma once

#include <string>

#include "sotto/audit/judge.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

/// Scores on disk, so that an audit can be continued. `audit` describes it in full: a file of
/// another audit is refused, because its runs don't count for this one.
Expected<void> save_scores(const std::string& path, const std::string& audit, const Scores& scores);

/// No scores if the file does not exist yet.
Expected<Scores> load_scores(const std::string& path, const std::string& audit);

}  // namespace sotto
