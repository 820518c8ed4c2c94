#include "sotto/data/public_words.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "sotto/data/spellings.hpp"

namespace sotto {
namespace {

using WordList = std::initializer_list<std::string_view>;

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_word_char(char c) {
  return is_capital(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

const WordList kSynonyms[] = {
    {"f", "female", "woman", "w", "weiblich", "frau", "femme", "feminin", "mujer", "femenino"},
    {"m", "male", "man", "mann", "männlich", "homme", "masculin", "hombre", "masculino"},
    {"1", "y", "yes", "t", "true", "j", "ja", "o", "oui", "s", "si", "sí", "x", "on"},
    {"0", "n", "no", "f", "false", "nein", "non", "off", "none"},
    {"unknown", "unk", "u", "na", "n/a", "missing", "not available", "unbekannt", "inconnu", "?"},
    {"+", "pos", "positive", "positiv"},
    {"-", "neg", "negative", "negativ"},
    {"white", "caucasian"},
    {"black", "african american", "africanamerican", "african-american"},
    {"hispanic", "latino", "latina", "latinx"},
    {"married", "verheiratet", "marié", "mariée", "casado", "casada"},
    {"single", "never married", "never-married", "ledig", "célibataire", "soltero", "soltera"},
};

}  // namespace

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  bool is_open = false;
  for (std::size_t k = 0; k < name.size(); ++k) {
    if (!is_word_char(name[k])) {
      is_open = false;
      continue;
    }
    // A capital begins a word after a small letter: AdmissionType, but not HDL.
    if (k > 0 && is_capital(name[k]) && is_word_char(name[k - 1]) && !is_capital(name[k - 1]))
      is_open = false;
    if (!is_open) words.emplace_back();
    is_open = true;
    words.back() += small_letter(name[k]);
  }
  return words;
}

LikelyKind likely_kind(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  const auto has = [&](WordList list) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return std::find(list.begin(), list.end(), word) != list.end();
    });
  };
  const bool is_id = has({"id", "ids", "nbr", "no", "nr", "uuid", "guid", "key", "identifier"});
  const bool is_person = has({"patient",
                              "person",
                              "subject",
                              "member",
                              "customer",
                              "client",
                              "user",
                              "participant",
                              "student",
                              "employee"});
  if (has({"mrn", "ssn", "nhs"}) || (is_person && (is_id || words.size() == 1)) ||
      std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return word == "patientid" || word == "userid" || word == "personid";
      }))
    return LikelyKind::kPersonId;
  if (has({"surname", "lastname", "firstname", "forename", "phone", "email", "address", "street"}))
    return LikelyKind::kIdentity;
  if (has({"date", "dob", "datetime", "timestamp", "birthday"})) return LikelyKind::kDate;
  if (has({"num", "number", "count", "counts", "cnt", "n", "visits", "admissions", "times"}))
    return LikelyKind::kCount;
  if (is_id) return LikelyKind::kId;
  if (has({"age"})) return LikelyKind::kAge;
  if (has({"sex", "gender"})) return LikelyKind::kSex;
  if (has({"diag", "diagnosis", "icd", "icd9", "icd10", "dx"})) return LikelyKind::kDiagnosis;
  if (has({"is", "has", "flag"})) return LikelyKind::kYesNo;
  if (has({"code", "type", "status", "class", "category", "group", "race", "ethnicity", "ward"}) ||
      has({"specialty", "department", "state", "country", "level", "grade"}))
    return LikelyKind::kCategory;
  return LikelyKind::kUnknown;
}

bool are_synonyms(std::string_view a, std::string_view b) {
  const std::string first = small_letters(a);
  const std::string second = small_letters(b);
  return std::any_of(std::begin(kSynonyms), std::end(kSynonyms), [&](const WordList& list) {
    return std::find(list.begin(), list.end(), first) != list.end() &&
           std::find(list.begin(), list.end(), second) != list.end();
  });
}

}  // namespace sotto
