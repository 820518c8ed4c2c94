#include "sotto/audit/worlds.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/random/stream.hpp"

namespace sotto {
namespace {

struct Rows {
  std::vector<float> values;
  std::vector<float> labels;

  void add(const Vector& x, float label) {
    for (const double value : x) values.push_back(static_cast<float>(value));
    labels.push_back(label);
  }
  Table table(std::int64_t dimension) const {
    return TableBuilder::dense(
        static_cast<std::int64_t>(labels.size()), dimension, values, labels, {});
  }
};

/// Two classes along the second feature, nothing in the first.
Rows ordinary_rows(std::int64_t count, std::int64_t dimension) {
  Stream random = Stream::seeded(20260101, Purpose::kData);
  Rows rows;
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
Rows cancelling_rows(std::int64_t count, std::int64_t dimension) {
  const Rows once = ordinary_rows(count / 2, dimension);
  Rows rows = once;
  rows.values.insert(rows.values.end(), once.values.begin(), once.values.end());
  for (const float label : once.labels) rows.labels.push_back(-label);
  if (count % 2 == 1) rows.add(Vector::Zero(dimension), 1.0F);
  return rows;
}

}  // namespace

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

const Engine* Worlds::add(Table table) {
  tables_.push_back(std::make_unique<Table>(std::move(table)));
  owned_.push_back(std::make_unique<GlmEngine>(*tables_.back(), LossSpec{}));
  return owned_.back().get();
}

Worlds::Worlds(Relation relation, Canary canary, std::int64_t n, std::int64_t dimension) {
  SOTTO_CHECK(n >= 2 && dimension >= 2);
  problem_.n = n;
  problem_.dimension = dimension;
  problem_.row_norm = 1;
  problem_.relation = relation;
  problem_.linear_rows = true;

  const Rows others = canary == Canary::kSpread ? cancelling_rows(n - 1, dimension)
                                                : ordinary_rows(n - 1, dimension);
  Vector direction = Vector::Unit(dimension, 0);
  if (canary == Canary::kLabelFlip) direction = Vector::Unit(dimension, 1);
  if (canary == Canary::kSpread)
    direction = Vector::Constant(dimension, 1 / std::sqrt(static_cast<double>(dimension)));
  const double length = 0.999999;
  const float wrong = -1.0F;  // the other records' label along `direction` is +1
  pull_ = -direction;
  others_ = add(others.table(dimension));
  for (int world = 0; world < 2; ++world) {
    Rows rows = others;
    Rows last;
    if (world == 1)
      last.add(length * direction, wrong);
    else if (relation == Relation::kReplaceOne)
      last.add(length * direction, -wrong);
    else
      last.add(Vector::Zero(dimension), wrong);
    if (world == 1 || relation != Relation::kAddRemove) {
      rows.values.insert(rows.values.end(), last.values.begin(), last.values.end());
      rows.labels.push_back(last.labels.front());
    }
    engines_[world] = add(rows.table(dimension));
    lasts_[world] = add(last.table(dimension));
  }
}

}  // namespace sotto
