#include "sotto/task/network_family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/digest.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/model/evaluate.hpp"
#include "sotto/objective/network/engine.hpp"
#include "sotto/objective/network/features.hpp"
#include "sotto/objective/network/transfer.hpp"
#include "sotto/task/network_setup.hpp"

namespace sotto {
namespace {

std::string bytes_of(const Vector& values) {
  return {reinterpret_cast<const char*>(values.data()),
          static_cast<std::size_t>(values.size()) * sizeof(double)};
}

std::int64_t outputs_of(const NetworkSpec& spec) {
  const auto shapes = shapes_of(spec);
  return shapes ? shapes->back().size() : 1;
}

/// The norm of a row's gradient in the outputs where these are all equal, near which training
/// starts. Of softmax it is that of p - e_y with p = 1/k:
/// sqrt((1 - 1/k)^2 + (k - 1)/k^2) = sqrt((k - 1)/k).
double slope_at_equal_outputs(const NetworkSpec& spec) {
  if (spec.loss == NetworkLoss::kLogistic) return loss_info(LossKind::kLogistic).typical_first;
  if (spec.loss == NetworkLoss::kSquared) return loss_info(LossKind::kSquared).typical_first;
  const auto k = static_cast<double>(outputs_of(spec));
  return std::sqrt((k - 1) / k);
}

/// PublicProblem::network_slope for rows of at most this norm: a linear layer's gradient is the
/// outer product of its outputs' and the row (with the 1 that its intercept sees). With hidden
/// layers it is no bound, but was as good a radius on the diabetes table. Where layers are frozen
/// or constants shift the row, nothing tells what a trained layer sees.
double slope_of(const NetworkSpec& spec, double row_norm) {
  const bool frozen = std::any_of(
      spec.layers.begin(), spec.layers.end(), [](const auto& layer) { return layer.frozen; });
  if (row_norm <= 0 || frozen || !spec.mean.empty() || !spec.deviation.empty() ||
      spec.layers.empty() || spec.layers[0].kind != LayerKind::kLinear)
    return 0;
  return slope_at_equal_outputs(spec) * std::hypot(row_norm, spec.layers[0].bias ? 1.0 : 0.0);
}

}  // namespace

LabelKind labels_of(NetworkLoss loss) {
  switch (loss) {
    case NetworkLoss::kLogistic:
      return LabelKind::kBinary;
    case NetworkLoss::kSquared:
      return LabelKind::kReal;
    default:
      return LabelKind::kMulticlass;
  }
}

NetworkFamily::NetworkFamily(NetworkSpec spec,
                             Vector start,
                             Regularizer regularizer,
                             const Dataset& data)
    : Family(data),
      spec_(std::move(spec)),
      start_(std::move(start)),
      regularizer_(std::move(regularizer)),
      width_(outputs_of(spec_)),
      row_norm_(data.schema.empty() ? 0 : data.row_norm_bound) {}

NetworkFamily::NetworkFamily(NetworkSpec spec, Regularizer regularizer, const Model& model)
    : Family(model),
      spec_(std::move(spec)),
      start_(model.w),
      regularizer_(std::move(regularizer)),
      width_(outputs_of(spec_)) {}

Expected<std::unique_ptr<Family>> NetworkFamily::of(const Model& model) {
  SOTTO_ASSIGN(NetworkSpec spec, parse_network(model.network, "the model's network"));
  if (model.w.size() != parameter_count(spec))
    return fail(ErrorKind::kBadData, "the model's weights don't fit its network. Train again.");
  SOTTO_ASSIGN(Regularizer regularizer, Regularizer::parse(model.regularizer));
  return std::unique_ptr<Family>(new NetworkFamily(std::move(spec), std::move(regularizer), model));
}

void NetworkFamily::adapt(LoadOptions& options) const {
  options.labels = labels_of(spec_.loss);
  options.bias = false;  // it has its own
  options.layout = Layout::kDense;
}

PublicProblem NetworkFamily::problem(PublicCount n, Relation relation, bool /*persons*/) const {
  PublicProblem problem;
  problem.n = n;
  problem.row_norm = kInfinity;
  problem.network = true;
  problem.network_slope = slope_of(spec_, row_norm_);
  problem.start = trained_part(spec_, start_);  // frozen layers are no parameters of it
  problem.dimension = problem.start.size();
  problem.relation = relation;
  problem.regularizer = regularizer_;
  if (const auto& weights = spec_.class_weights; !weights.empty()) {
    const auto [least, largest] = std::minmax_element(weights.begin(), weights.end());
    problem.loss = weighted(problem.loss, *least, *largest);
  }
  return problem;
}

Expected<std::unique_ptr<Engine>> NetworkFamily::engine(const Table& rows) const {
  SOTTO_ASSIGN(auto features, frozen_features(rows, spec_, start_));
  if (features)
    return NetworkEngine::make(std::make_unique<const Table>(std::move(features->table)),
                               features->rest);
  return NetworkEngine::make(rows, spec_, start_);
}

bool NetworkFamily::slow() const {
  return std::any_of(
      spec_.layers.begin(), spec_.layers.end(), [](const auto& layer) { return layer.frozen; });
}

Expected<std::optional<double>> NetworkFamily::speed() const {
  SOTTO_ASSIGN(const double rate, examples_per_second(spec_, start_));
  return std::optional<double>(rate);
}

Facts NetworkFamily::facts() const {
  std::string classes;
  for (const auto& name : class_names()) classes += name + '\n';
  Facts facts = {{"the network", sha256(to_text(spec_))},
                 {"the weights that it starts with", sha256(bytes_of(start_))},
                 {"the classes", sha256(classes)}};
  if (!schema().empty()) facts.emplace_back("the schema", sha256(schema()));
  return facts;
}

void NetworkFamily::describe(Model& model) const {
  model.regularizer = regularizer_.to_string();
  model.network = to_text(spec_);
  model.w = start_;
  describe_names(model);
}

void NetworkFamily::describe(RunRecord& record) const {
  record.loss = "network";
  record.regularizer = regularizer_.to_string();
  record.network = to_text(spec_);
  record.class_names = class_names();
}

void NetworkFamily::put(Vector& trained, Vector& all) const {
  put_trained_part(spec_, trained, all);
}

Expected<std::vector<double>> NetworkFamily::outputs(const Table& rows, const Vector& all) const {
  return network_outputs(rows, spec_, all);
}

std::string NetworkFamily::prediction(std::span<const double> outputs) const {
  if (spec_.loss == NetworkLoss::kSquared) return fmt::format("{}", outputs[0]);
  return class_name(static_cast<std::size_t>(predicted_class(spec_, outputs)));
}

Expected<void> NetworkFamily::check_probabilities() const {
  if (spec_.loss != NetworkLoss::kSquared) return {};
  return fail(ErrorKind::kUsage, "‘proba’ needs classes, but this network predicts numbers.");
}

std::vector<double> NetworkFamily::probabilities(std::span<const double> outputs) const {
  if (spec_.loss == NetworkLoss::kLogistic) return {1 / (1 + std::exp(-outputs[0]))};
  const double largest = *std::max_element(outputs.begin(), outputs.end());
  double sum = 0;
  for (const double each : outputs) sum += std::exp(each - largest);
  std::vector<double> result;
  for (const double each : outputs) result.push_back(std::exp(each - largest) / sum);
  return result;
}

Expected<Metrics> NetworkFamily::evaluate(const Table& rows,
                                          const Vector& all,
                                          std::span<const double> outputs) const {
  return evaluate_network(rows, spec_, all, regularizer_.value(trained_part(spec_, all)), outputs);
}

}  // namespace sotto
