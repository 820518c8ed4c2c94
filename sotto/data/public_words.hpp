#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sotto {

// What names of columns and of values are likely to mean, by themselves: hints for whoever writes a
// schema. Nothing is ever encoded by them.

/// Words of a name, in small letters: `admission_type_id` and `AdmissionTypeId` have three.
std::vector<std::string> words_of(std::string_view name);

/// What a column is likely to hold, by its name.
enum class LikelyKind {
  kUnknown,
  kPersonId,  ///< names a person: patient_nbr
  kId,        ///< names something, or is a code: encounter_id
  kIdentity,  ///< tells who somebody is: surname, phone
  kCount,     ///< number_of_visits
  kDate,      ///< date_of_birth
  kAge,       ///< in years
  kSex,
  kDiagnosis,  ///< a code of a disease: diag_1, icd9
  kCategory,   ///< ward_type, payer_code
  kYesNo,      ///< is_smoker
};
LikelyKind likely_kind(std::string_view name);

/// Whether two spellings often stand for one value: `F` and `Female`, `1` and `yes`; also in some
/// other languages. Without regard to case.
bool are_synonyms(std::string_view a, std::string_view b);

}  // namespace sotto
