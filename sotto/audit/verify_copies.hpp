#pragma once

// What a run record says twice, and what its journal and its model say again: all copies must
// agree.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "sotto/audit/verify.hpp"
#include "sotto/privacy/journal.hpp"

namespace sotto {

/// Steps, curves, counts, flags and prices against each other, and the plan against the one that
/// the method makes of the record's own settings. What a record does not have is not compared.
/// `price_curve` false: of a record that contradicts itself already the curve is left out, since
/// pricing it takes the most time.
std::vector<RecordCheck> check_copies(const nlohmann::json& record, bool price_curve = true);

/// The run that the record names in its journal: it must be there, at the line that the record
/// remembers (a journal that was cut back or written anew is seen), with the same plan, charges and
/// noise samples.
Expected<std::vector<RecordCheck>> check_journal(const nlohmann::json& record,
                                                 const JournalContent& journal);

/// The model's statement, method and number of weights. `model`: the model file's JSON.
std::vector<RecordCheck> check_model(const nlohmann::json& record, const nlohmann::json& model);

}  // namespace sotto
