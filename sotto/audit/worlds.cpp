#include "sotto/audit/worlds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sotto/audit/canary_engine.hpp"
#include "sotto/core/check.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/random/stream.hpp"
#include "sotto/task/linear_family.hpp"
#include "sotto/task/network_family.hpp"

namespace sotto {
namespace {

/// All data are made up, so nothing is lost by a known seed.
constexpr std::uint64_t kSeed = 20260101;

/// Decisions by rows of norm 1, with the logistic loss.
std::unique_ptr<const Family> linear_family(std::int64_t dimension, const ClassWeights& weights) {
  LinearModel linear;
  linear.loss.weights = weights;
  linear.features = dimension;
  linear.row_norm = 1;
  return std::make_unique<const LinearFamily>(std::move(linear), Dataset{});
}

/// An input that is noise of this amplitude after the network's own normalization.
Vector image(const NetworkSpec& spec, double amplitude, Stream& random) {
  const std::int64_t pixels = spec.input.height * spec.input.width;
  Vector x(spec.input.size());
  for (Eigen::Index j = 0; j < x.size(); ++j) {
    const auto channel = static_cast<std::size_t>(j / pixels);
    const double mean = spec.mean.empty() ? 0 : spec.mean[channel];
    const double deviation = spec.deviation.empty() ? 1 : spec.deviation[channel];
    x[j] = mean + deviation * amplitude * (2 * random.uniform() - 1);
  }
  return x;
}

std::int64_t label_count(const NetworkSpec& spec) {
  return spec.loss == NetworkLoss::kSoftmax ? shapes_of(spec)->back().size() : 2;
}

/// Of the k-th record, if every class comes in its turn.
float label_of(const NetworkSpec& spec, std::int64_t k) {
  switch (spec.loss) {
    case NetworkLoss::kSoftmax:
      return static_cast<float>(k % label_count(spec));
    case NetworkLoss::kLogistic:
      return k % 2 == 0 ? 1.0F : -1.0F;
    case NetworkLoss::kSquared:
      return k % 2 == 0 ? 10.0F : -10.0F;
  }
  return 0;
}

}  // namespace

struct Worlds::Rows {
  std::int64_t dimension = 0;
  std::vector<float> values = {};
  std::vector<float> labels = {};

  bool empty() const { return labels.empty(); }
  void add(const Vector& x, float label) {
    for (const double value : x) values.push_back(static_cast<float>(value));
    labels.push_back(label);
  }
  void add(const Rows& more) {
    values.insert(values.end(), more.values.begin(), more.values.end());
    labels.insert(labels.end(), more.labels.begin(), more.labels.end());
  }
  Table table() const {
    return TableBuilder::dense(
        static_cast<std::int64_t>(labels.size()), dimension, values, labels, {});
  }
  /// For linear models.
  static Rows ordinary(std::int64_t count, std::int64_t dimension);
  static Rows cancelling(std::int64_t count, std::int64_t dimension);
  /// For networks: images of almost one colour, each class as often.
  static Rows dim_images(std::int64_t count, const NetworkSpec& spec, Stream& random);
};

/// Two classes along the second feature, nothing in the first.
Worlds::Rows Worlds::Rows::ordinary(std::int64_t count, std::int64_t dimension) {
  Stream random = Stream::seeded(kSeed, Purpose::kData);
  Rows rows{dimension};
  for (std::int64_t i = 0; i < count; ++i) {
    const float label = i % 2 == 0 ? 1.0F : -1.0F;
    Vector x = Vector::Zero(dimension);
    for (Eigen::Index j = 1; j < dimension; ++j) x[j] = 2 * random.uniform() - 1;
    x[1] += 1.5 * static_cast<double>(label);
    // A shade below 1: float32 rounding must not make a row longer than declared.
    rows.add(0.999999 / x.norm() * x, label);
  }
  return rows;
}

/// Every row comes twice, with both labels; a last odd one has no effect.
Worlds::Rows Worlds::Rows::cancelling(std::int64_t count, std::int64_t dimension) {
  const Rows once = ordinary(count / 2, dimension);
  Rows rows = once;
  rows.values.insert(rows.values.end(), once.values.begin(), once.values.end());
  for (const float label : once.labels) rows.labels.push_back(-label);
  if (count % 2 == 1) rows.add(Vector::Zero(dimension), 1.0F);
  return rows;
}

Worlds::Rows Worlds::Rows::dim_images(std::int64_t count, const NetworkSpec& spec, Stream& random) {
  constexpr double kDim = 0.02;
  Rows rows{spec.input.size()};
  for (std::int64_t i = 0; i < count; ++i) rows.add(image(spec, kDim, random), label_of(spec, i));
  return rows;
}

std::string_view to_string(Canary canary) {
  switch (canary) {
    case Canary::kDirection:
      return "direction";
    case Canary::kLabelFlip:
      return "label-flip";
    case Canary::kSpread:
      return "spread";
  }
  return "";
}

Expected<Canary> parse_canary(std::string_view text) {
  for (const Canary canary : {Canary::kDirection, Canary::kLabelFlip, Canary::kSpread})
    if (text == to_string(canary)) return canary;
  return fail(
      ErrorKind::kUsage,
      fmt::format("unknown canary '{}'. Known canaries: direction, label-flip, spread.", text));
}

Expected<std::pair<float, float>> Worlds::steepest_labels(const Vector& x,
                                                          const NetworkSpec& spec) const {
  Rows rows{spec.input.size()};
  for (std::int64_t k = 0; k < label_count(spec); ++k) rows.add(x, label_of(spec, k));
  const Table table = rows.table();
  SOTTO_ASSIGN(const auto engine, family_->engine(table));
  const auto workspace = engine->make_workspace();
  const Vector& w = problem_.start;
  const std::span<const double> point(w.data(), static_cast<std::size_t>(w.size()));
  std::vector<std::pair<double, float>> steepness;
  for (std::int64_t k = 0; k < label_count(spec); ++k) {
    double norm = 0;
    engine->evaluate_gradients({nullptr, k, 1}, point, *workspace, {&norm, 1});
    steepness.emplace_back(std::isfinite(norm) ? norm : 0, label_of(spec, k));
  }
  SOTTO_CHECK(steepness.size() >= 2);
  std::sort(steepness.rbegin(), steepness.rend());
  return std::pair{steepness[0].second, steepness[1].second};
}

Expected<const Engine*> Worlds::add(const Rows& rows) {
  tables_.push_back(std::make_unique<Table>(rows.table()));
  SOTTO_ASSIGN(auto engine, family_->engine(*tables_.back()));
  owned_.push_back(std::move(engine));
  return owned_.back().get();
}

Expected<void> Worlds::build(const Rows& others, const Rows (&last)[2]) {
  SOTTO_ASSIGN(others_, add(others));
  for (int world = 0; world < 2; ++world) {
    SOTTO_ASSIGN(lasts_[world], add(last[world]));
    if (world == 0 && problem_.relation == Relation::kAddRemove) {
      engines_[0] = others_;
    } else if (last[world].empty()) {
      owned_.push_back(std::make_unique<CanaryEngine>(*others_));
      engines_[world] = owned_.back().get();
    } else {
      Rows rows = others;
      rows.add(last[world]);
      SOTTO_ASSIGN(engines_[world], add(rows));
    }
  }
  return {};
}

Worlds::Worlds(Relation relation,
               Canary canary,
               std::int64_t n,
               std::int64_t dimension,
               const ClassWeights& weights)
    : Worlds(linear_family(dimension, weights), n, relation) {
  SOTTO_CHECK(n >= 2 && dimension >= 2);
  Vector direction = Vector::Unit(dimension, 0);
  if (canary == Canary::kLabelFlip) direction = Vector::Unit(dimension, 1);
  if (canary == Canary::kSpread)
    direction = Vector::Constant(dimension, 1 / std::sqrt(static_cast<double>(dimension)));
  pull_ = -direction;
  // Of the class that weighs most, on its wrong side: the other records' label along `direction` is
  // +1. Mirrored it pulls the other way, just as hard; with the other label it would weigh less.
  const float heavy = weights.positive > weights.negative ? 1.0F : -1.0F;
  const Vector canary_row = -heavy * 0.999999 * direction;
  Rows last[2] = {{dimension}, {dimension}};
  last[1].add(canary_row, heavy);
  last[0].add((relation == Relation::kReplaceOne ? -1 : 0) * canary_row, heavy);
  const auto made = build(canary == Canary::kSpread ? Rows::cancelling(n - 1, dimension)
                                                    : Rows::ordinary(n - 1, dimension),
                          last);
  SOTTO_CHECK(made.has_value());
}

Expected<Worlds> Worlds::of_network(Relation relation,
                                    Canary canary,
                                    const AuditedNetwork& network,
                                    std::int64_t n) {
  SOTTO_CHECK(n >= 2);
  if (canary == Canary::kSpread)
    return fail(ErrorKind::kUsage,
                "‘canary spread’ is for methods that choose vertices; a network is audited with "
                "direction or label-flip.");
  const NetworkSpec& spec = network.spec;
  SOTTO_TRY(shapes_of(spec));
  Worlds worlds(
      std::make_unique<const NetworkFamily>(spec, network.weights, Regularizer(), Dataset{}),
      n,
      relation);
  constexpr double kBright = 3;
  Stream random = Stream::seeded(kSeed, Purpose::kData);
  const Rows others = Rows::dim_images(n - 1, spec, random);
  Vector shown = image(spec, kBright, random);
  if (canary == Canary::kLabelFlip)
    for (Eigen::Index j = 0; j < shown.size(); ++j)
      shown[j] = others.values[static_cast<std::size_t>(j)];
  Rows last[2] = {{spec.input.size()}, {spec.input.size()}};
  SOTTO_ASSIGN(const auto labels, worlds.steepest_labels(shown, spec));
  last[1].add(shown, labels.first);
  if (relation == Relation::kReplaceOne) last[0].add(shown, labels.second);
  SOTTO_TRY(worlds.build(others, last));
  PerExampleSum gradient(*worlds.lasts_[1]);
  gradient.clipped_gradients({}, worlds.problem_.start, 1, worlds.pull_);
  worlds.pull_ *= -1 / std::max(1e-300, worlds.pull_.norm());
  return worlds;
}

}  // namespace sotto
