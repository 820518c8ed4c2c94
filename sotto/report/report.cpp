#include "sotto/report/report.hpp"

#include <nlohmann/json.hpp>

#include "sotto/record/record_json.hpp"
#include "sotto/report/run_page.hpp"

namespace sotto {

Expected<std::string> report_page(const RunRecord& record) {
  SOTTO_ASSIGN(const ReportedRun run,
               reported_run(to_json(record), record.method, "this run's record"));
  return run_page(run);
}

}  // namespace sotto
