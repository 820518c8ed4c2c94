#pragma once

#include <string>
#include <vector>

#include "sotto/audit/method_audit.hpp"
#include "sotto/audit/one_run.hpp"

namespace sotto {

/// The report of an audit (HTML): verdict, claim and lower bound, the attack's ROC beside what the
/// claim allows, settings, and the command. `command`: its words; may be empty.
std::string audit_page(const MethodAuditOptions& options,
                       const PreparedRun& prepared,
                       const AuditReport& report,
                       const std::vector<RocPoint>& roc,
                       const std::vector<std::string>& command);

/// The same of an audit in one run. Marked as not private: it depends on the run's secret coins.
std::string one_run_page(const TrainOptions& train,
                         const OneRunOptions& options,
                         const OneRunReport& report,
                         const std::vector<std::string>& command);

}  // namespace sotto
