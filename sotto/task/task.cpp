#include "sotto/task/task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/check.hpp"
#include "sotto/core/text.hpp"
#include "sotto/data/io/csv_source.hpp"
#include "sotto/task/linear_family.hpp"
#include "sotto/task/network_family.hpp"
#include "sotto/task/network_setup.hpp"
#include "sotto/training/measures.hpp"
#include "sotto/training/train.hpp"

namespace sotto {
namespace {

/// A control character in a name could forge a line of a model's predictions.
Expected<void> check_names(const Dataset& data) {
  for (const auto* names : {&data.class_names, &data.feature_names})
    for (const std::string& name : *names)
      if (has_control_characters(name))
        return fail(
            ErrorKind::kUsage,
            fmt::format("the name '{}' has a control character. Declare another.", escaped(name)));
  return {};
}

/// A Poisson loss without a largest rate takes the upper bound that a schema's label has.
Expected<LossSpec> with_rate(LossSpec loss, const LoadOptions& rows) {
  if (loss.kind != LossKind::kPoisson || std::isfinite(loss.threshold) || !rows.has_schema())
    return loss;
  SOTTO_ASSIGN(const Schema schema, read_schema(rows));
  SOTTO_TRY(check_label(schema, LabelKind::kReal));
  const Schema::Column* label = schema.label_column();
  if (!label) return loss;
  if (!(label->max > 0))
    return fail(ErrorKind::kUsage,
                fmt::format("the loss poisson is for counts, but the schema's label is at most {}. "
                            "Raise its max to the largest count that is to be told from smaller "
                            "ones, or train with ‘loss squared’.",
                            label->max));
  loss.threshold = label->max;
  return loss;
}

Expected<LinearModel> linear_model(const TaskOptions& options) {
  if (!options.network.pretrained.empty())
    return fail(ErrorKind::kUsage,
                "‘pretrained’ is a network's start, but a linear model is trained. Name the "
                "network with ‘model’, or leave ‘pretrained’ out.");
  LinearModel linear;
  SOTTO_ASSIGN(linear.loss, with_rate(options.loss, options.rows));
  if (!options.class_weights.empty()) SOTTO_TRY(check_weighable(linear.loss));
  SOTTO_TRY(check_loss(linear.loss));
  linear.regularizer = options.regularizer;
  SOTTO_ASSIGN(linear.constraint, parse_constraint(options.constraint));
  linear.constraint_text = options.constraint;
  if (!(options.row_max >= 0 && std::isfinite(options.row_max)))
    return fail(ErrorKind::kUsage,
                fmt::format("‘row_max’ must be finite and > 0, but is {}.", options.row_max));
  linear.row_max = options.row_max;
  linear.bias = options.rows.bias;
  linear.row_norm = linear.scaled_to = options.rows.row_norm;
  return linear;
}

/// Refuses what a network has no place for.
Expected<void> check_network(const TaskOptions& options) {
  if (options.constraint != "none" || options.row_max > 0)
    return fail(ErrorKind::kUsage,
                "‘constraint’ and ‘row_max’ are for linear models: a network's weights are not "
                "kept in a set. ‘regularizer l2:LAMBDA’ keeps them small.");
  if (options.rows.row_norm > 0 || options.rows.layout == Layout::kSparse)
    return fail(ErrorKind::kUsage,
                "‘row_norm’ and ‘layout sparse’ are for linear models: of a network (‘loss "
                "multinomial’ is one) clipping bounds the gradients, and it takes dense rows.");
  return {};
}

/// What a schema tells of rows before they are read.
void add_facts(const Schema& schema, Dataset& facts) {
  facts.unit = schema.unit();
  facts.schema = schema.text;
  facts.class_names = schema.class_names();
  facts.feature_names = schema.feature_names();
}

/// Training rows, as this network takes them.
Expected<Dataset> read_for(const NamedNetwork& named, const TaskOptions& options) {
  LoadOptions rows = options.rows;
  rows.labels = labels_of(named.loss);
  rows.bias = false;  // a network has its own
  rows.layout = Layout::kDense;
  rows.public_rows = !options.is_private;
  const Format format = resolve_format(rows);
  if (rows.dim == 0 && format->declares_dim) rows.dim = named.features;
  // A network of k outputs is for the classes 0 to k - 1, unless told otherwise.
  const bool infers = rows.public_rows && format->labels_are_any;
  if (rows.classes.empty() && !format->has_schema && !infers)
    for (std::int64_t c = 0; c < named.outputs; ++c) rows.classes.push_back(std::to_string(c));
  return load_table(rows);
}

}  // namespace

Expected<void> set_loss(TaskOptions& options, std::string_view text) {
  if (text == "multinomial") {
    options.loss = LossSpec();  // a network's is its own
    if (options.network.model.empty()) options.network.model = "softmax";
    return {};
  }
  SOTTO_ASSIGN(options.loss, parse_loss(text));
  return {};
}

Task::Task() = default;
Task::~Task() = default;
Task::Task(Task&&) noexcept = default;
Task& Task::operator=(Task&&) noexcept = default;

Expected<Task> Task::open(const TaskOptions& options) {
  if (options.network.model.empty()) {
    SOTTO_TRY(linear_model(options));  // what is wrong with it is said before the rows are read
    LoadOptions rows = options.rows;
    rows.labels = loss_info(options.loss).classification ? LabelKind::kBinary : LabelKind::kReal;
    rows.public_rows = !options.is_private;
    SOTTO_ASSIGN(Dataset data, load_table(rows));
    return of_linear(std::move(data), options);
  }
  SOTTO_TRY(check_network(options));
  SOTTO_ASSIGN(const bool numbers, predicts_numbers(options.loss));
  SOTTO_ASSIGN(NamedNetwork named, named_network(options.network, numbers));
  SOTTO_ASSIGN(Dataset data, read_for(named, options));
  return of_network(std::move(data), std::move(named), options);
}

Expected<Task> Task::of(Dataset rows, const TaskOptions& options) {
  if (options.network.model.empty()) return of_linear(std::move(rows), options);
  SOTTO_TRY(check_network(options));
  SOTTO_ASSIGN(const bool numbers, predicts_numbers(options.loss));
  SOTTO_ASSIGN(NamedNetwork named, named_network(options.network, numbers));
  return of_network(std::move(rows), std::move(named), options);
}

Expected<Task> Task::declare(const TaskOptions& options) {
  if (options.rows.most_rows > 0 && !options.rows.has_schema()) return no_persons();
  return options.network.model.empty() ? declare_linear(options) : declare_network(options);
}

Expected<Task> Task::of_linear(Dataset data, const TaskOptions& options) {
  SOTTO_ASSIGN(LinearModel linear, linear_model(options));
  SOTTO_TRY(check_names(data));
  SOTTO_TRY(weigh_classes(linear.loss, options.class_weights, data));
  linear.features = data.table.dim() - (linear.bias ? 1 : 0);
  if (linear.row_norm == 0) linear.row_norm = data.row_norm_bound;
  if (linear.row_norm == 0 && !options.is_private) {
    const auto norms = data.table.norms();  // not private: look
    linear.row_norm = std::max(1e-300, *std::max_element(norms.begin(), norms.end()));
  }
  SOTTO_ASSIGN(const PublicCount n,
               public_units(options.public_n, data.table.units(), options.relation));
  Task task;
  task.rows_options_ = options.rows;
  task.family_ = std::make_unique<LinearFamily>(std::move(linear), data);
  task.problem_ = task.family_->problem(n, options.relation, data.table.has_units());
  task.unit_ = data.unit;
  task.persons_ = data.table.has_units();
  task.notes_ = std::move(data.notes);
  task.table_ = std::make_unique<Table>(std::move(data.table));
  return task;
}

Expected<Task> Task::declare_linear(const TaskOptions& options) {
  SOTTO_ASSIGN(LinearModel linear, linear_model(options));
  SOTTO_TRY(check_options(options.rows));
  linear.features = options.rows.dim;
  bool persons = false;
  Dataset facts;
  facts.class_names = options.rows.classes;
  if (options.rows.has_schema()) {
    SOTTO_ASSIGN(const Schema schema, read_schema(options.rows));
    linear.features = std::ssize(schema.feature_names());
    if (linear.row_norm == 0) linear.row_norm = schema.row_norm_bound(linear.bias);
    persons = schema.has_units && options.rows.most_rows != 1;
    if (!schema.has_units && options.rows.most_rows > 0) return no_persons();
    add_facts(schema, facts);
  }
  SOTTO_TRY(weigh_classes(linear.loss, options.class_weights, facts));
  if (options.public_n < 1 || linear.features < 1)
    return fail(
        ErrorKind::kUsage,
        "‘dry_run’ does not open the rows, so it needs ‘public_n N’ and ‘dim D’ (or a ‘schema’).");
  Task task;
  task.rows_options_ = options.rows;
  task.family_ = std::make_unique<LinearFamily>(std::move(linear), facts);
  task.problem_ = task.family_->problem(options.public_n, options.relation, persons);
  task.unit_ = facts.unit;
  return task;
}

Expected<Task> Task::of_network(Dataset data, NamedNetwork named, const TaskOptions& options) {
  SOTTO_TRY(check_names(data));
  SOTTO_ASSIGN(
      NetworkSpec spec,
      fitted_network(options.network, named, data.table.dim(), std::ssize(data.class_names)));
  SOTTO_TRY(weigh_classes(spec, options.class_weights, data));
  SOTTO_ASSIGN(StartWeights start, start_weights(spec, options.network));
  SOTTO_ASSIGN(const PublicCount n,
               public_units(options.public_n, data.table.units(), options.relation));
  Task task;
  task.rows_options_ = options.rows;
  task.family_ = std::make_unique<NetworkFamily>(
      std::move(spec), std::move(start.all), options.regularizer, data);
  task.problem_ = task.family_->problem(n, options.relation, data.table.has_units());
  task.unit_ = data.unit;
  task.notes_ = std::move(named.notes);
  task.notes_.insert(task.notes_.end(), data.notes.begin(), data.notes.end());
  if (!start.warning.empty()) task.warnings_.push_back(std::move(start.warning));
  task.starts_from_public_ = !options.network.pretrained.empty();
  task.table_ = std::make_unique<Table>(std::move(data.table));
  return task;
}

Expected<Task> Task::declare_network(const TaskOptions& options) {
  SOTTO_TRY(check_network(options));
  SOTTO_ASSIGN(const bool numbers, predicts_numbers(options.loss));
  SOTTO_ASSIGN(NamedNetwork named, named_network(options.network, numbers));
  const LoadOptions& rows = options.rows;
  Dataset facts;
  facts.class_names = rows.classes;
  std::int64_t features = named.features > 0 ? named.features : rows.dim;
  if (rows.has_schema()) {
    SOTTO_ASSIGN(const Schema schema, read_schema(rows));
    if (!schema.has_units && rows.most_rows > 0) return no_persons();
    add_facts(schema, facts);
    facts.row_norm_bound = schema.row_norm_bound(/*bias=*/false);
    if (named.features == 0) features = std::ssize(schema.feature_names());
  }
  const bool regression = named.loss == NetworkLoss::kSquared;
  std::int64_t classes = regression                   ? 0
                         : !facts.class_names.empty() ? std::ssize(facts.class_names)
                         : named.outputs > 0          ? named.outputs
                                                      : 10;  // as in the sets of images
  const bool classes_known = named.features > 0 || regression || !facts.class_names.empty();
  PublicCount n = options.public_n;
  if (n < 1 || features < 1 || !classes_known) {
    if (rows.path.empty())
      return fail(ErrorKind::kUsage,
                  "this ‘dry_run’ needs DATA, or else ‘public_n N’, and for a network that fits "
                  "itself to the rows ‘dim D’ and ‘classes’.");
    SOTTO_ASSIGN(Dataset data, read_for(named, options));
    if (n < 1) {
      SOTTO_ASSIGN(n, counted_as_public(data.table.units(), options.relation));
    }
    features = data.table.dim();
    classes = std::ssize(data.class_names);
    facts.class_names = std::move(data.class_names);
  }
  SOTTO_ASSIGN(NetworkSpec spec, fitted_network(options.network, named, features, classes));
  SOTTO_TRY(weigh_classes(spec, options.class_weights, facts));
  Vector start = initial_weights(spec, options.network.initial_seed);
  Task task;
  task.rows_options_ = rows;
  task.family_ = std::make_unique<NetworkFamily>(
      std::move(spec), std::move(start), options.regularizer, facts);
  task.problem_ = task.family_->problem(n, options.relation, /*persons=*/false);
  task.unit_ = facts.unit;
  task.notes_ = std::move(named.notes);
  task.starts_from_public_ = !options.network.pretrained.empty();
  return task;
}

Expected<const Engine*> Task::engine() {
  SOTTO_CHECK(table_ != nullptr);
  if (!engine_) {
    SOTTO_ASSIGN(engine_, family_->engine(*table_));
  }
  return engine_.get();
}

Expected<Dataset> Task::read_public(const std::string& path) const {
  LoadOptions options = rows_options_;
  options.path = path;
  return family_->read(std::move(options));
}

Expected<std::vector<std::string>> Task::predict(const Dataset& rows, const Vector& all) const {
  return family_->predict(rows.table, all);
}

Expected<Metrics> Task::evaluate(const Dataset& rows, const Vector& all) const {
  SOTTO_ASSIGN(const auto outputs, family_->outputs(rows.table, all));
  return family_->evaluate(rows.table, all, outputs);
}

Vector Task::all_weights(Vector iterate) const {
  Vector all = model("").w;
  family_->put(iterate, all);
  return all;
}

std::optional<PopulationGradient> Task::population(const Dataset& rows, const Vector& w) const {
  if (problem_.network) return std::nullopt;
  if (persons_ && !rows.table.has_units()) return std::nullopt;  // nothing says whose rows they are
  const auto held_out = family_->engine(rows.table);
  if (!held_out || (*held_out)->units() < 2) return std::nullopt;  // public rows: the test set
  return population_gradient(**held_out, problem_, w);
}

Model Task::model(const std::string& method) const {
  Model model;
  model.method = method;
  family_->describe(model);
  return model;
}

Expected<void> check_row_bound(const Task& task, const TrainOptions& options) {
  const PublicProblem& problem = task.problem();
  const MethodInfo* method = options.unlisted;
  if (!method) {
    SOTTO_ASSIGN(method, find_method(options.method));
  }
  const auto given = [&](std::string_view name) {
    return std::any_of(options.options.begin(), options.options.end(), [&](const auto& option) {
      return option.first == name;
    });
  };
  const bool bounded = problem.network || std::isfinite(problem.row_norm) || !method->is_private ||
                       (given("clip_radius") && given("step_size")) ||
                       (method->constraints && std::isfinite(problem.row_max));
  if (bounded) return {};
  return fail(
      ErrorKind::kUsage,
      "no public bound on the norm of a row is declared, and one taken from the rows would leak. "
      "Give ‘row_norm R’ (longer rows are scaled down to it; for 0/1 data with k ones per row, R = "
      "sqrt(k)), a ‘schema’ with bounds, or both ‘clip_radius’ and ‘step_size’; dp-pgd, dp-pmd, "
      "dp-fw-l2 and dp-fw-l1 also take ‘row_max’.");
}

Expected<PreparedRun> prepare(const Task& task, const TrainOptions& options) {
  SOTTO_TRY(check_row_bound(task, options));
  SOTTO_ASSIGN(PreparedRun run, prepare(task.problem(), options));
  run.warnings.insert(run.warnings.begin(), task.warnings().begin(), task.warnings().end());
  return run;
}

Expected<void> Trained::keep(const std::string& path) {
  if (ledger) SOTTO_TRY(ledger->confirm_journal(Journal::Look::kEveryLine));
  SOTTO_TRY(save_model(model, path));
  if (ledger) SOTTO_TRY(ledger->close(kFinished));
  return checkpoint ? checkpoint->remove() : Expected<void>();
}

void describe_to(TrainOptions& options, const Task& task) {
  options.unit = task.unit();
  options.most_rows = task.most_rows();
  for (const auto& fact : task.family().facts()) options.checkpoint.facts.push_back(fact);
}

Expected<TrainResult> run(Task& task,
                          const TrainOptions& options,
                          PreparedRun prepared,
                          Observer& observer) {
  SOTTO_ASSIGN(const Engine* engine, task.engine());
  auto result = train(*engine, task.problem(), options, std::move(prepared), observer);
  if (result) result->record.privacy.start_declared_public = task.starts_from_public();
  return result;
}

void complete(Model& model, const Task& task, TrainResult& result) {
  task.family().put(result.w, model.w);
  model.privacy = result.record.privacy;
  model.certificate = result.record.certificate;
}

Expected<Trained> train(Task& task, TrainOptions options, Observer& observer) {
  describe_to(options, task);
  SOTTO_ASSIGN(PreparedRun prepared, prepare(task, options));
  Trained trained;
  trained.model = task.model(prepared.method->name);
  SOTTO_ASSIGN(TrainResult result, run(task, options, std::move(prepared), observer));
  if (result.interrupted)
    return fail(ErrorKind::kInterrupted,
                "the run was stopped before its last step; there is no model. What it released is "
                "charged.");
  complete(trained.model, task, result);
  trained.record = std::move(result.record);
  task.family().describe(trained.record);
  trained.ledger = std::move(result.ledger);
  trained.checkpoint = std::move(result.checkpoint);
  return trained;
}

Expected<Trained> train(Task& task, TrainOptions options) {
  NoObserver nobody;
  return train(task, std::move(options), nobody);
}

}  // namespace sotto
