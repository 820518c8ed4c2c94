#pragma once

#include <map>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/model/model.hpp"

namespace sotto {

// What goes with a model into files of other formats (ONNX, SQL, C): nobody should have to ask what
// it promises about the people behind it.

/// In words, in one paragraph: also what rests on a declaration of somebody.
std::string statement_text(const Model& model);

/// For machines: `sotto.privacy` (the whole statement as JSON), `sotto.method`, `sotto.loss`, and
/// where there are any `sotto.class_names`, `sotto.feature_names` and `sotto.recalibrated`.
Expected<std::map<std::string, std::string>> statement_facts(const Model& model);

}  // namespace sotto
