#include "sotto/study/cell_run.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <numeric>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/study/published/search.hpp"
#include "sotto/task/linear_family.hpp"
#include "sotto/task/network_family.hpp"
#include "sotto/training/measures.hpp"

namespace sotto::study {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

const std::string* find_option(const GivenOptions& options, std::string_view name) {
  for (const auto& [each, value] : options)
    if (each == name) return &value;
  return nullptr;
}

double number_of(const GivenOptions& options, std::string_view name, double otherwise) {
  const std::string* text = find_option(options, name);
  double value = otherwise;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

Expected<double> delta_of(const std::string& text, std::int64_t n) {
  if (text == "1/n") return 1 / static_cast<double>(n);
  const auto value = number_in<double>(text);
  if (!value || !(*value > 0 && *value < 1))
    return fail(ErrorKind::kBadData,
                fmt::format("delta must be a number in (0, 1) or 1/n, but is '{}'.", text));
  return *value;
}

Statistic statistic(const std::vector<double>& values) {
  Statistic result;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  if (values.size() > 1) result.deviation = std::sqrt(squares / (count - 1));
  return result;
}

/// The least eigenvalue of the true Hessian: for the table alone.
double least_eigenvalue(const Engine& engine, const PublicProblem& problem, const Vector& w) {
  PerExampleSum sums(engine);
  Matrix H;
  sums.clipped_hessians({}, w, kInfinity, H);
  H /= static_cast<double>(problem.n);
  Vector diagonal = H.diagonal();
  problem.regularizer.add_hessian_diagonal(w, diagonal);
  H.diagonal() = diagonal;
  return Eigen::SelfAdjointEigenSolver<Matrix>(H, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

/// How many of the columns that matter are among as many of the largest weights.
double recovered(const std::vector<std::int64_t>& relevant, const Vector& w) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(w.size()));
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::ssize(relevant);
  std::partial_sort(order.begin(), end, order.end(), [&](std::int64_t a, std::int64_t b) {
    return std::abs(w[a]) > std::abs(w[b]);
  });
  return static_cast<double>(std::count_if(order.begin(), end, [&](std::int64_t column) {
    return w[column] != 0 && std::binary_search(relevant.begin(), relevant.end(), column);
  }));
}

}  // namespace

/// Evaluates iterates at steps that grow geometrically. They are released values; the gradient norm
/// on the training rows is not, and is for the figure alone.
class CellRun::Camera final : public Observer {
 public:
  Camera(const CellRun& run, Observer& watch) : run_(run), watch_(watch) {}

  bool keep_going(const StepReport& report) override {
    const std::clock_t now = std::clock();
    if (calls_++ == 0) first_ = now;
    last_ = now;
    paused_before_last_ = paused_;
    if (run_.spec_->curves && report.step >= next_) take_photo(report, now);
    if (run_.wants("first_passes") && !left_saddle_ && run_.escaped(*report.iterate))
      left_saddle_ = report.passes;
    paused_ += std::clock() - now;
    return watch_.keep_going(report);
  }

  /// Processor time of all steps, from that between the first one's end and the last one's: less
  /// at the mercy of other programs than the clock on the wall, and without pricing. None where
  /// there were fewer than two steps.
  std::optional<double> processor_seconds() const {
    if (calls_ < 2) return std::nullopt;
    const auto between = static_cast<double>(last_ - first_ - paused_before_last_);
    return between / CLOCKS_PER_SEC * static_cast<double>(calls_) / static_cast<double>(calls_ - 1);
  }

  /// Passes until an iterate was outside of the saddle for the first time.
  std::optional<double> left_saddle() const { return left_saddle_; }

  std::vector<Photo> photos;

 private:
  void take_photo(const StepReport& report, std::clock_t now) {
    next_ = static_cast<std::int64_t>(std::ceil(static_cast<double>(report.step) * 1.25));
    const Vector& w = *report.iterate;
    Photo photo{static_cast<double>(report.step), report.passes, {}};
    photo.values["seconds"] = static_cast<double>(now - first_ - paused_) / CLOCKS_PER_SEC;
    if (!run_.data_->network) {  // a network's would take longer than the steps between
      const Diagnostics truth = true_values(*run_.engine_, run_.problem_, w);
      photo.values["gradient_norm"] = truth.gradient_norm;
      if (truth.projected_gradient_norm)
        photo.values["projected_norm"] = *truth.projected_gradient_norm;
      photo.values["train_objective"] = truth.objective;
      if (run_.optimum_) photo.values["gap"] = truth.objective - *run_.optimum_;
    }
    if (run_.data_->test) {
      const auto test = run_.tested(*run_.data_->test, w);
      photo.values["objective"] = test.objective;
      photo.values["error"] = 100 * (1 - test.accuracy);
    }
    photos.push_back(std::move(photo));
  }

  const CellRun& run_;
  Observer& watch_;
  std::int64_t next_ = 1;
  std::int64_t calls_ = 0;
  std::clock_t first_ = 0, last_ = 0;
  std::clock_t paused_ = 0;              ///< spent on looking so far
  std::clock_t paused_before_last_ = 0;  ///< of it, before the last step ended
  std::optional<double> left_saddle_;
};

Expected<CellRun> CellRun::make(const StudySpec& spec,
                                const CellSpec& cell,
                                const ArmSpec& arm,
                                const DataSet& data) {
  CellRun run(spec, cell, arm, data);
  SOTTO_ASSIGN(run.family_, run.make_family());
  SOTTO_ASSIGN(const Relation relation, parse_relation(cell.neighbours));
  // A study's data set is public, its size with it, under every relation.
  run.problem_ =
      run.family_->problem(std::int64_t{data.train.units()}, relation, /*persons=*/false);
  SOTTO_ASSIGN(run.engine_, run.family_->engine(data.train));
  if (data.test && !data.network) {
    SOTTO_ASSIGN(run.held_out_, run.family_->engine(*data.test));
  }
  const PublicProblem& problem = run.problem_;
  SOTTO_ASSIGN(run.delta_, delta_of(cell.delta, problem.n));
  if (!find_published(arm.method)) {
    SOTTO_ASSIGN(const MethodInfo* method, find_method(arm.method));
    run.is_private_ = method->is_private;
  }
  if (!arm.noise.empty()) {
    const GivenOptions options = run.options_for(0);
    NoiseFacts facts;
    facts.problem = problem;
    facts.epsilon = cell.epsilon.value_or(0);
    run.noise_delta_ = run.delta_;
    if (const auto n = arm.noise_arguments.find("n");
        n != arm.noise_arguments.end() && cell.delta == "1/n")
      run.noise_delta_ = 1 / n->second;
    facts.delta = run.noise_delta_;
    facts.steps = number_of(options, "steps", 1);
    facts.batch = number_of(options, "expected_batch", static_cast<double>(problem.n));
    facts.arguments = arm.noise_arguments;
    SOTTO_ASSIGN(run.noise_, published_noise(arm.noise, facts));
  }
  return run;
}

Expected<std::unique_ptr<const Family>> CellRun::make_family() const {
  SOTTO_ASSIGN(Regularizer regularizer, Regularizer::parse(cell_->regularizer));
  if (const auto& network = data_->network)
    return std::make_unique<const NetworkFamily>(
        network->spec, network->w, std::move(regularizer), Dataset{});
  LinearModel linear;
  SOTTO_ASSIGN(linear.loss, parse_loss(cell_->loss));
  linear.regularizer = std::move(regularizer);
  SOTTO_ASSIGN(linear.constraint, parse_constraint(cell_->constraint));
  linear.row_max = spec_->data.at(cell_->data).row_max;
  linear.row_norm = data_->row_norm;
  linear.features = data_->train.dim();
  return std::make_unique<const LinearFamily>(std::move(linear), Dataset{});
}

Metrics CellRun::tested(const Table& rows, const Vector& w) const {
  const auto outputs = family_->outputs(rows, w);
  SOTTO_CHECK(outputs.has_value());  // training took rows of the same kind
  return *family_->evaluate(rows, w, *outputs);
}

GivenOptions CellRun::options_for(std::uint64_t seed) const {
  GivenOptions options = arm_->options;
  const auto n = static_cast<double>(problem_.n);
  const auto fill = [&](std::string& value) {
    if (cell_->x) replace_all(value, "{x}", fmt::format("{}", *cell_->x));
    if (cell_->epsilon) replace_all(value, "{epsilon}", fmt::format("{}", *cell_->epsilon));
    replace_all(value, "{seed}", fmt::format("{}", seed));
    replace_all(value, "{n}", fmt::format("{}", problem_.n));
    if (const std::size_t at = value.find("{n/"); at != std::string::npos) {
      double divisor = 1;
      std::from_chars(value.data() + at + 3, value.data() + value.size(), divisor);
      value = fmt::format("{}", std::max(1.0, std::floor(n / divisor)));
    }
  };
  for (auto& [name, value] : options) fill(value);
  if (!arm_->epochs.empty()) {
    std::string text = arm_->epochs;
    fill(text);
    double epochs = 1;
    std::from_chars(text.data(), text.data() + text.size(), epochs);
    const double batch = number_of(options, "expected_batch", n);
    options.emplace_back("steps", fmt::format("{}", std::ceil(epochs * n / batch)));
  }
  const double steps = number_of(options, "steps", 1);
  for (auto& [name, value] : options) replace_all(value, "{1/steps}", fmt::format("{}", 1 / steps));
  for (const auto& more : noise_.options) options.push_back(more);
  return options;
}

bool CellRun::escaped(const Vector& w) const {
  return least_eigenvalue(*engine_, problem_, w) >= -spec_->saddle_tolerance;
}

bool CellRun::wants(std::string_view measure) const {
  return std::find(spec_->columns.begin(), spec_->columns.end(), measure) != spec_->columns.end();
}

std::map<std::string, double> CellRun::measure(const TrainResult& run) const {
  std::map<std::string, double> values;
  const RunRecord& record = run.record;
  const Diagnostics& truth = *record.diagnostics;
  values["train_objective"] = truth.objective;
  values["gradient_norm"] = truth.gradient_norm;
  values["projected_norm"] = truth.projected_gradient_norm.value_or(truth.gradient_norm);
  if (truth.frank_wolfe_gap) values["frank_wolfe_gap"] = *truth.frank_wolfe_gap;
  values["passes"] = record.passes;
  values["evaluations"] = record.gradient_evaluations / static_cast<double>(problem_.n);
  values["steps"] = static_cast<double>(record.steps);
  values["seconds"] = run.seconds;
  values["noise"] = record.noise_multiplier;
  if (optimum_) values["gap"] = truth.objective - *optimum_;
  const Metrics test = tested(data_->test ? *data_->test : data_->train, run.w);
  if (data_->test) values["objective"] = test.objective;
  values["accuracy"] = 100 * test.accuracy;
  values["error"] = 100 * (1 - test.accuracy);
  if (wants("population_norm") && held_out_)
    values["population_norm"] = population_gradient(*held_out_, problem_, run.w).norm;
  if (wants("recovered")) values["recovered"] = recovered(data_->relevant, run.w);
  if (wants("escaped")) values["escaped"] = escaped(run.w) ? 1 : 0;
  if (wants("lambda_min") || wants("missed")) {
    const double lowest = least_eigenvalue(*engine_, problem_, run.w);
    values["lambda_min"] = lowest;
    const auto tolerance = [&](const char* name) {
      return number_of(options_for(0), name, kInfinity);
    };
    // The published search is told the tolerances that its tests use, a little below the aims.
    const double room = arm_->method == "published-opt" ? 1.1 : 1;
    const bool violated = truth.gradient_norm > room * tolerance("gradient_tolerance") ||
                          lowest < -room * tolerance("curvature_tolerance");
    values["missed"] = violated || record.stopped != StopReason::kPointFound ? 1 : 0;
  }
  return values;
}

Expected<void> CellRun::add_run(std::uint64_t seed, Observer& watch) {
  TrainOptions options;
  options.method = arm_->method;
  options.unlisted = find_published(arm_->method);
  options.options = options_for(seed);
  options.delta = delta_;
  if (is_private_) {
    if (noise_.multiplier)
      options.noise_multiplier = noise_.multiplier;
    else
      options.epsilon = cell_->epsilon;
  }
  options.seed = seed;
  options.unsafe_diagnostics = true;  // the pages show true values of public data
  SOTTO_ASSIGN(PreparedRun prepared, prepare(problem_, options));
  epsilon_ = std::max(epsilon_, prepared.epsilon_planned);
  if (prepared.accountant) accountant_ = prepared.accountant->name();
  settings_.clear();
  for (const auto& setting : prepared.configured.settings)
    if (setting.value != "none")
      settings_ +=
          fmt::format("{}{} {}", settings_.empty() ? "" : ", ", setting.name, setting.value);
  Camera camera(*this, watch);
  SOTTO_ASSIGN(const TrainResult result,
               train(*engine_, problem_, options, std::move(prepared), camera));
  auto values = measure(result);
  if (const auto seconds = camera.processor_seconds()) values["seconds"] = *seconds;
  // Of the runs that escaped, and to stay.
  if (wants("first_passes") && camera.left_saddle() && escaped(result.w))
    values["first_passes"] = *camera.left_saddle();
  for (const auto& [name, value] : values) values_[name].push_back(value);
  photos_.push_back(std::move(camera.photos));
  return {};
}

Expected<double> CellRun::price(const Event& releases) const {
  SOTTO_ASSIGN(const CanonicalEvent event, canonical(releases));
  SOTTO_ASSIGN(const Accountant* accountant, tightest_accountant(event));
  auto epsilon = accountant->epsilon_upper(event, noise_delta_);
  if (epsilon && std::isfinite(*epsilon)) return *epsilon;
  SOTTO_ASSIGN(const Accountant* renyi, find_accountant("rdp"));
  return renyi->epsilon_upper(event, noise_delta_);
}

/// As far as at least half of the runs came.
std::vector<CurvePoint> CellRun::curve() const {
  std::vector<std::size_t> lengths;
  for (const auto& run : photos_) lengths.push_back(run.size());
  std::sort(lengths.begin(), lengths.end());
  std::vector<CurvePoint> points;
  for (std::size_t k = 0; !lengths.empty() && k < lengths[lengths.size() / 2]; ++k) {
    std::map<std::string, std::vector<double>> columns;
    for (const auto& run : photos_) {
      if (k >= run.size()) continue;
      columns["steps"].push_back(run[k].steps);
      columns["passes"].push_back(run[k].passes);
      for (const auto& [name, value] : run[k].values) columns[name].push_back(value);
    }
    CurvePoint point{statistic(columns["steps"]).mean, statistic(columns["passes"]).mean, {}};
    for (const auto& [name, values] : columns) {
      if (name == "steps" || name == "passes") continue;
      const Statistic each = statistic(values);
      const double half = 1.96 * each.deviation / std::sqrt(static_cast<double>(values.size()));
      point.values[name] = {each.mean, half};
    }
    points.push_back(std::move(point));
  }
  return points;
}

Expected<ArmResult> CellRun::result() const {
  ArmResult result;
  result.method = arm_->method;
  result.is_private = is_private_;
  result.epsilon = is_private_ ? epsilon_ : kInfinity;
  result.accountant = accountant_;
  if (noise_.releases) {
    auto epsilon = price(*noise_.releases);
    (noise_.is_run ? result.epsilon : result.epsilon_of_code.emplace()) =
        epsilon ? *epsilon : kInfinity;
  }
  result.delta = delta_;
  for (const auto& [name, values] : values_) {
    result.measures[name] = statistic(values);
    result.runs = static_cast<int>(values.size());
  }
  result.n = problem_.n;
  result.settings = settings_;
  result.curve = curve();
  return result;
}

Expected<double> CellRun::optimum() const {
  TrainOptions options;
  options.method = "newton";
  options.options = {{"steps", "60"}};
  options.seed = 1;
  options.unsafe_diagnostics = true;
  NoObserver observer;
  SOTTO_ASSIGN(PreparedRun prepared, prepare(problem_, options));
  SOTTO_ASSIGN(const TrainResult best,
               train(*engine_, problem_, options, std::move(prepared), observer));
  return best.record.diagnostics->objective;
}

}  // namespace sotto::study
