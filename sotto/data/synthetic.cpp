#include "sotto/data/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <span>

#include "sotto/core/check.hpp"
#include "sotto/data/io/output_file.hpp"
#include "sotto/data/row_encoder.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/random/stream.hpp"

namespace sotto {
namespace {

constexpr const char* kSchema = R"(# Made-up census records; see docs/reference/synthetic_data.md.

[file]
header = true
missing = [""]

[[column]]
name = "age"
kind = "numeric"
min = 0
max = 100

[[column]]
name = "education_years"
kind = "numeric"
min = 0
max = 16

[[column]]
name = "hours_per_week"
kind = "numeric"
min = 0
max = 100

[[column]]
name = "savings"
kind = "numeric"
min = 0
max = 100

[[column]]
name = "commute_minutes"
kind = "numeric"
min = 0
max = 120

[[column]]
name = "sector"
kind = "categorical"
values = ["private", "public", "self-employed", "none"]

[[column]]
name = "occupation"
kind = "categorical"
values = ["manager", "professional", "technician", "clerk", "sales", "craft", "service", "labour"]
missing_indicator = true

[[column]]
name = "marital_status"
kind = "categorical"
values = ["single", "married", "divorced", "widowed"]

[[column]]
name = "region"
kind = "categorical"
values = ["north", "east", "south", "west", "capital"]

[[column]]
name = "sex"
kind = "categorical"
values = ["female", "male"]

[[column]]
name = "income"
kind = "label"
positive = ["high"]
negative = ["low"]
)";

struct Weight {
  const char* feature;
  double weight;
};

// The sectors carry the intercept: every record has exactly one.
constexpr Weight kTruth[] = {
    {"age", 1.5},
    {"education_years", 3.0},
    {"hours_per_week", 2.5},
    {"savings", 2.0},
    {"commute_minutes", -0.5},
    {"sector=private", -5.0},
    {"sector=public", -4.8},
    {"sector=self-employed", -5.3},
    {"sector=none", -6.5},
    {"occupation=manager", 2.3},
    {"occupation=professional", 2.0},
    {"occupation=technician", 1.1},
    {"occupation=clerk", -0.4},
    {"occupation=sales", 0.0},
    {"occupation=craft", 0.0},
    {"occupation=service", -1.8},
    {"occupation=labour", -1.4},
    {"occupation=missing", -0.6},
    {"marital_status=single", -1.9},
    {"marital_status=married", 2.2},
    {"marital_status=divorced", -0.9},
    {"marital_status=widowed", -0.7},
    {"region=north", 0.0},
    {"region=east", -0.2},
    {"region=south", -0.3},
    {"region=west", 0.1},
    {"region=capital", 0.4},
    {"sex=female", -0.2},
    {"sex=male", 0.2},
};

using Fields = std::vector<std::string>;

/// Draws records, and labels by the truth.
class Generator {
 public:
  Generator(const Schema& schema, std::uint64_t seed, std::uint64_t part)
      : stream_(Stream::seeded(seed, Purpose::kData, part)), columns_(schema.columns) {
    for (const Weight& weight : kTruth) truth_[weight.feature] = weight.weight;
  }

  /// The next record's fields, in the schema's order.
  const Fields& next() {
    fields_.clear();
    logit_ = 0;
    const double age = number(std::clamp(40 + 15 * normal(), 17.0, 95.0));
    const double education = number(std::clamp(10 + 2.8 * normal(), 1.0, 16.0));
    const int sector = pick(std::array{0.64, 0.15, 0.12, 0.09});
    const double usual_hours = sector == 3 ? 8 : sector == 2 ? 46 : 39;
    number(std::clamp(usual_hours + 9 * normal(), 1.0, 99.0));
    number(stream_.uniform() < 0.7 ? 0 : std::min(100.0, 20 * exponential()));
    number(sector == 3 ? 0 : std::min(120.0, 25 * exponential()));
    category(sector);
    // Education moves people from labour and service to the professions.
    const double skill = std::exp(0.35 * (education - 10));
    const int occupation = pick(std::array{0.10 * skill,
                                           0.12 * skill * skill,
                                           0.10 * skill,
                                           0.14,
                                           0.12,
                                           0.16,
                                           0.14 / skill,
                                           0.12 / skill});
    category(stream_.uniform() < 0.05 ? -1 : occupation);
    const double settled = 1 / (1 + std::exp(-(age - 29) / 6));
    const double old = 1 / (1 + std::exp(-(age - 75) / 6));
    category(pick(std::array{1 - settled + 0.1, 0.75 * settled, 0.18 * settled, 0.6 * old}));
    category(pick(std::array{0.22, 0.2, 0.24, 0.2, 0.14}));
    category(pick(std::array{0.5, 0.5}));
    const bool high = stream_.uniform() < 1 / (1 + std::exp(-logit_));
    fields_.emplace_back(high ? "high" : "low");
    return fields_;
  }

  double weight(const std::string& feature) const { return truth_.at(feature); }

 private:
  double normal() {
    return std::sqrt(2 * exponential()) * std::cos(2 * std::numbers::pi * stream_.uniform());
  }
  double exponential() { return -std::log(stream_.uniform()); }

  int pick(std::span<const double> shares) {
    double total = 0;
    for (const double share : shares) total += share;
    double rest = stream_.uniform() * total;
    int choice = 0;
    for (; choice + 1 < std::ssize(shares); ++choice)
      if ((rest -= shares[static_cast<std::size_t>(choice)]) < 0) break;
    return choice;
  }

  const Schema::Column& column() const { return columns_[fields_.size()]; }

  double number(double value) {
    value = std::round(value);
    const Schema::Column& facts = column();
    logit_ += truth_.at(facts.name) * (value - facts.min) / (facts.max - facts.min);
    fields_.push_back(fmt::format("{}", static_cast<int>(value)));
    return value;
  }

  /// -1: missing.
  void category(int choice) {
    const Schema::Column& facts = column();
    const std::string value =
        choice < 0 ? "" : facts.values[static_cast<std::size_t>(choice)].front();
    logit_ += truth_.at(facts.name + "=" + (choice < 0 ? "missing" : value));
    fields_.push_back(value);
  }

  Stream stream_;
  std::vector<Schema::Column> columns_;
  std::map<std::string, double> truth_;
  Fields fields_;
  double logit_ = 0;
};

Schema parsed_schema() {
  auto schema = Schema::parse(kSchema, "census");
  SOTTO_CHECK(schema.has_value());
  return *std::move(schema);
}

}  // namespace

std::string census_schema() { return kSchema; }

CensusData make_census(std::int64_t rows,
                       std::uint64_t seed,
                       std::uint64_t part,
                       const TableBuilder::Options& options) {
  const Schema schema = parsed_schema();
  Generator generator(schema, seed, part);
  std::vector<std::size_t> places(schema.columns.size());
  for (std::size_t c = 0; c < places.size(); ++c) places[c] = c;
  const RowEncoder encoder(schema, std::move(places), false, Misfits::kRefuse);

  CensusData census;
  census.data.feature_names = schema.feature_names();
  TableBuilder builder(std::ssize(census.data.feature_names), false, options);
  const TableBuilder::Piece all{rows, rows * schema.max_entries()};
  auto writers = builder.extend({&all, 1});
  std::vector<std::string_view> views;
  for (std::int64_t i = 0; i < rows; ++i) {
    const Fields& fields = generator.next();
    views.assign(fields.begin(), fields.end());
    SOTTO_CHECK(encoder.encode(views, false, writers[0]).text.empty());
  }
  builder.commit(writers);
  census.data.table = std::move(builder).finish();
  for (const std::string& feature : census.data.feature_names)
    census.truth.push_back(generator.weight(feature));
  if (options.bias) {
    census.data.feature_names.emplace_back("bias");
    census.truth.push_back(0);
  }
  census.data.class_names = schema.class_names();
  census.data.row_norm_bound = schema.row_norm_bound(options.bias);
  if (options.row_norm > 0)
    census.data.row_norm_bound = std::min(census.data.row_norm_bound, options.row_norm);
  return census;
}

Expected<void> write_census_csv(const std::string& path,
                                std::int64_t rows,
                                std::uint64_t seed,
                                std::uint64_t part) {
  SOTTO_ASSIGN(OutputFile file, OutputFile::create(path));
  const Schema schema = parsed_schema();
  Fields names;
  for (const Schema::Column& column : schema.columns) names.push_back(column.name);
  file.write(fmt::format("{}\n", fmt::join(names, ",")));
  Generator generator(schema, seed, part);
  for (std::int64_t i = 0; i < rows; ++i)
    file.write(fmt::format("{}\n", fmt::join(generator.next(), ",")));
  return file.commit();
}

}  // namespace sotto
