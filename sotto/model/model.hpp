#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/geometry/regularizer.hpp"
#include "sotto/geometry/stationarity.hpp"
#include "sotto/loss/loss_info.hpp"
#include "sotto/privacy/journal.hpp"
#include "sotto/privacy/neighbours.hpp"
#include "sotto/privacy/public_count.hpp"

namespace sotto {

/// Where a run's charges are: its name in its journal, and the journal's last line before the run
/// ended, by which a journal is known that was cut back or replaced since.
struct JournalPlace {
  std::string run;
  JournalHead head;
};

/// What a model promises about the people behind it; travels inside the model file.
struct PrivacyStatement {
  bool is_private = false;
  double epsilon = 0;  ///< upper bound on what the run costs; infinite if not private
  double delta = 0;
  Relation neighbours = Relation::kZeroOut;
  std::string unit = "row";  ///< what is protected: `row`, or the name of the person column
  /// Of a person's rows only the first so many were trained on; 0: all, and then it is not written.
  std::int64_t most_rows = 0;
  PublicCount public_n;
  std::string accountant;
  /// By which rule epsilon was found (privacy/promise.hpp): `plan` or `filter`. Empty if not
  /// private, and in files of version 0.1.
  std::string rule;
  std::string events;  ///< what was released, in the grammar of events
  std::int64_t noise_samples = 0;
  bool insecure_seed = false;
  bool unsafe_diagnostics = false;
  /// The run was evaluated on test rows, exactly: whoever ran it declared them public.
  bool test_declared_public = false;
  /// The run started from the weights of another model: whoever ran it declared them public.
  /// Written only where it is true, so that the files of all other runs stay as they were.
  bool start_declared_public = false;
  std::optional<JournalPlace> journal;  ///< none without a journal, and in files of version 0.1
};

/// What was done to a model's scores after training, on public rows: its weights hold the result
/// (model/recalibrate.hpp). Post-processing: the privacy statement is the run's and stays true.
struct Recalibration {
  enum class Method {
    kPlatt,      ///< slope · score + intercept
    kIntercept,  ///< score + intercept
  };
  Method method = Method::kPlatt;
  /// From the scores of training, also where a model was recalibrated several times.
  double slope = 1;
  double intercept = 0;
  std::int64_t rows = 0;  ///< public ones of the last time
};
inline constexpr Named<Recalibration::Method> kRecalibrations[] = {
    {Recalibration::Method::kPlatt, "platt"}, {Recalibration::Method::kIntercept, "intercept"}};
constexpr std::string_view to_string(Recalibration::Method method) {
  return name_of(method, kRecalibrations);
}

/// A trained model. For a linear one the decision is the sign of <w, x> (classification) or <w, x>
/// itself.
struct Model {
  std::string method;
  LossSpec loss;
  std::string regularizer = "none";
  Vector w;
  bool bias = false;                       ///< the last weight is the intercept
  double row_norm = 0;                     ///< rows longer than this were rescaled to it; 0: none
  std::vector<std::string> class_names;    ///< names of labels -1 and +1; empty for regression
  std::vector<std::string> feature_names;  ///< empty: numbered
  std::string schema;  ///< the CSV schema (TOML text), so that predict can read the same columns
  /// A network: its model file's text; w holds the parameters of all its layers. Empty: linear.
  std::string network;
  PrivacyStatement privacy;
  std::optional<Certificate> certificate;  ///< of the weights, if the method made one
  std::optional<Recalibration> recalibrated;
};

/// What must stand beside every epsilon of a run with a known seed; empty for others.
std::string seed_mark(const PrivacyStatement& statement);

inline constexpr int kModelVersion = 1;

/// Takes the next bytes of a text.
using TextSink = std::function<Expected<void>(std::string_view)>;

/// JSON, versioned. Weights are written so that they read back to the last bit. They are written
/// piece by piece: what is held in memory does not grow with their number.
Expected<void> write_text(const Model& model, const TextSink& sink);
std::string to_text(const Model& model);
/// More memory than write_text() takes for this model.
std::size_t memory_to_write(const Model& model);

/// Refuses files that are cut short, of a newer version, or not models, saying which.
Expected<Model> model_from_text(const std::string& text, const std::string& path);

Expected<void> save_model(const Model& model, const std::string& path);
Expected<Model> load_model(const std::string& path);

/// The place in a journal that the model or record in this file knows; none if there is no such
/// file, or if it knows none (other files, models of version 0.1). Weights and curves are passed
/// over.
struct KnownPlace {
  JournalPlace place;
  std::vector<std::string> command;  ///< of a record: what wrote it
};
Expected<std::optional<KnownPlace>> journal_place_in(const std::string& path);

}  // namespace sotto
