#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sotto/task/class_weights.hpp"
#include "sotto/task/family.hpp"
#include "sotto/training/prepare.hpp"

namespace sotto {

class Ledger;
struct NamedNetwork;
struct TrainResult;

/// Which network, and where its training starts. All of it is public.
struct NetworkOptions {
  /// A built-in name (builtin_network), a model file, or an ONNX file, of which the layers are
  /// taken. Empty: no network.
  std::string model;
  std::uint64_t initial_seed = 0;
  std::string pretrained;  ///< a model whose weights training starts from; empty: random ones
  /// Subtracted from the input, and what it is divided by: one number per channel, or one for all.
  std::vector<double> mean, deviation;
};

/// What is to be trained, as a front end is told.
struct TaskOptions {
  /// Where the rows are and what is declared of them. Labels follow from the model.
  LoadOptions rows;
  /// Of a linear model. A network takes `logistic` for classes and `squared` for numbers; its own
  /// loss is the one that its file states.
  LossSpec loss;
  /// Public constants that the rows' losses are multiplied by, by class; of two classes and of
  /// networks with classes. Refused beside weights that `loss` or a network's file has.
  std::vector<ClassWeight> class_weights;
  Regularizer regularizer;
  std::string constraint = "none";  ///< that the weights stay in (parse_constraint)
  double row_max = 0;               ///< bound on the absolute entries of a row; 0: none declared
  NetworkOptions network;           ///< network.model empty: a linear model
  Relation relation = Relation::kZeroOut;
  std::int64_t public_n = 0;  ///< the declared number of units, where it is not counted; 0: none
  /// False: training without privacy, for which what is not declared is taken from the rows.
  bool is_private = true;
};

/// Reads what a front end is told of the loss: parse_loss(), or `multinomial`, whose linear model
/// is the softmax network and which names that if there is no other.
Expected<void> set_loss(TaskOptions& options, std::string_view text);

/// What is trained: rows, what is public about them, and a family of models. Verbs and other front
/// ends handle nothing else; audits and tests also use what is beneath (prepare, train).
class Task {
 public:
  ~Task();
  Task(Task&&) noexcept;
  Task& operator=(Task&&) noexcept;

  /// Reads the rows. Fails as load_table does, and on options that don't fit each other or the
  /// rows' public facts.
  static Expected<Task> open(const TaskOptions& options);
  /// The same of rows that a program has already: `options.rows` says how they were encoded (bias,
  /// row norm).
  static Expected<Task> of(Dataset rows, const TaskOptions& options);

  /// From declarations alone: for plans and prices. Such a task has no rows to train on. Only for a
  /// network that fits itself to the rows, or whose units are not declared, are they counted, and
  /// only if the relation makes that public.
  static Expected<Task> declare(const TaskOptions& options);

  const PublicProblem& problem() const { return problem_; }
  const Family& family() const { return *family_; }
  /// What is protected: a row, or the schema's person column.
  const std::string& unit() const { return unit_; }
  /// Of a person's rows only the first so many are trained on; 0: all.
  std::int64_t most_rows() const { return rows_options_.most_rows; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Training starts from weights that whoever named them declared public.
  bool starts_from_public() const { return starts_from_public_; }

  /// The engine that training sums with; made when first asked for (Family::slow).
  Expected<const Engine*> engine();

  /// Further public rows of the same kind, e.g. to test on.
  Expected<Dataset> read_public(const std::string& path) const;
  /// What a model with these weights predicts for each of such rows: a class, or a number.
  Expected<std::vector<std::string>> predict(const Dataset& rows, const Vector& all) const;
  /// How good it is on them.
  Expected<Metrics> evaluate(const Dataset& rows, const Vector& all) const;
  /// All weights of the model that an iterate stands for: those of frozen layers, too.
  Vector all_weights(Vector iterate) const;
  /// The population's gradient at a linear model's weights, estimated on such rows; none for
  /// networks, and for fewer than two rows.
  std::optional<PopulationGradient> population(const Dataset& rows, const Vector& w) const;

  /// All of the model file but what a run gives.
  Model model(const std::string& method) const;

 private:
  Task();
  static Expected<Task> of_linear(Dataset rows, const TaskOptions& options);
  static Expected<Task> of_network(Dataset rows, NamedNetwork named, const TaskOptions& options);
  static Expected<Task> declare_linear(const TaskOptions& options);
  static Expected<Task> declare_network(const TaskOptions& options);

  LoadOptions rows_options_;
  std::unique_ptr<Table> table_;  ///< for the engine alone; null: declared only
  std::unique_ptr<Family> family_;
  std::unique_ptr<Engine> engine_;
  PublicProblem problem_;
  std::string unit_ = "row";
  bool persons_ = false;  ///< some units are several rows
  std::vector<std::string> notes_;
  std::vector<std::string> warnings_;
  bool starts_from_public_ = false;
};

/// Refuses (kUsage) a linear model without a declared bound on its rows, unless every setting that
/// would follow from it is given.
Expected<void> check_row_bound(const Task& task, const TrainOptions& options);

/// check_row_bound(), then prepare() of the task's public problem. The task's warnings are the
/// first of the run's, so that its record has them.
Expected<PreparedRun> prepare(const Task& task, const TrainOptions& options);

/// What the task says of itself to its run: what is protected, and what a continued run must have
/// in common with this one.
void describe_to(TrainOptions& options, const Task& task);

/// Runs on the task's rows what was prepared for it.
Expected<TrainResult> run(Task& task,
                          const TrainOptions& options,
                          PreparedRun prepared,
                          Observer& observer);

/// Puts what a run gave into the model that Task::model described before it. Asks for little
/// memory, and may be done twice: a paid model must not be lost for want of either.
void complete(Model& model, const Task& task, TrainResult& result);

/// A run that came to its end: its model, and all that may be told about it.
struct Trained {
  Model model;
  RunRecord record;
  std::shared_ptr<Ledger> ledger;  ///< of a private run; its journal is open until keep()
  std::shared_ptr<CheckpointFile> checkpoint;

  /// Saves the model, then closes the run in its journal, then removes the checkpoint: in this
  /// order nothing that was paid for is lost.
  Expected<void> keep(const std::string& path);
};

/// Prepares and runs. kInterrupted is not an error of `options`: the observer stopped it.
Expected<Trained> train(Task& task, TrainOptions options, Observer& observer);
Expected<Trained> train(Task& task, TrainOptions options);

}  // namespace sotto
