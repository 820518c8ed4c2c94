// A model with the encoding of its schema's columns, as one graph.

#include "sotto/model/onnx/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "sotto/core/json.hpp"
#include "sotto/data/row_scale.hpp"
#include "sotto/model/deploy/deployment.hpp"
#include "sotto/model/onnx/layer_writer.hpp"

namespace sotto::onnx_file {
namespace {

using Column = Encoding::Column;
using deploy::Deployment;
using Dims = GraphBuilder::Dims;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// What ONNX's operators can't do with a column alike in every program; empty: nothing.
std::string why_not(const Column& column) {
  if (!column.date.empty()) return "it is a date. Use ‘format c’";
  if (column.prefix > 0)
    return "only the first characters of its texts are looked at (prefix). Use ‘format sql’ or "
           "‘format c’";
  if (column.ignore_case)
    return "its texts are compared without regard to case (ignore_case). Use ‘format sql’ or "
           "‘format c’";
  if (!column.ranges.empty())
    return "its texts may be numbers from low to high (ranges). Use ‘format sql’ or ‘format c’";
  return "";
}

Expected<void> check_columns(const Encoding& encoding) {
  for (const Column& column : encoding.columns) {
    const std::string& name = column.name;
    if (const std::string why = why_not(column); !why.empty())
      return fail(ErrorKind::kUsage,
                  fmt::format("ONNX has no operator for the column '{}': {}, or ‘raw’ for the "
                              "encoded features as input.",
                              name,
                              why));
    if (name.empty() || name == "scores" || name == "class" || name == "probabilities" ||
        name == "prediction")
      return fail(ErrorKind::kUsage,
                  fmt::format("the column '{}' would be an input with the name of an output, or "
                              "none. Use ‘format sql’ or ‘format c’, or ‘raw’ for the encoded "
                              "features as input.",
                              name));
  }
  return {};
}

/// With which no column begins.
std::string free_prefix(const Encoding& encoding) {
  std::string prefix = "sotto.";
  while (std::any_of(encoding.columns.begin(), encoding.columns.end(), [&](const Column& column) {
    return column.name.starts_with(prefix);
  }))
    prefix += '.';
  return prefix;
}

bool needs_single(const NetworkSpec& spec) {
  return std::any_of(spec.layers.begin(), spec.layers.end(), [](const LayerSpec& layer) {
    switch (layer.kind) {
      case LayerKind::kLinear:
      case LayerKind::kRelu:
      case LayerKind::kTanh:
      case LayerKind::kSigmoid:
      case LayerKind::kFlatten:
      case LayerKind::kDropout:
      case LayerKind::kLayerNorm:
        return false;
      default:  // onnxruntime has these in float32 alone
        return true;
    }
  });
}

class ColumnsWriter {
 public:
  ColumnsWriter(const Model& model, const Deployment& deployment)
      : model_(model),
        deployment_(deployment),
        encoding_(*deployment.encoding),
        builder_(/*wide=*/true, free_prefix(encoding_)) {}

  Expected<Graph> write() &&;

 private:
  std::string put(const std::string& op, std::vector<std::string> inputs) {
    return builder_.put(op, std::move(inputs));
  }
  std::string scalar(double value);
  std::string row(const std::vector<double>& values);
  std::string as_numbers(const std::string& flags) { return builder_.cast(flags, CastTo::kDouble); }
  std::string in_single(const std::string& value) {
    return builder_.cast(builder_.cast(value, CastTo::kSingle), CastTo::kDouble);
  }
  void put_number(const Column& column);
  void put_flag(const Column& column);
  void put_text(const Column& column);
  std::string scaled(const Column& column);
  std::string log1p(std::string d);
  std::string bins(const Column& column);
  std::string features();
  std::string linear_scores(const std::string& features);
  Expected<std::string> network_scores(const std::string& features);
  void put_class();
  void put_probabilities();
  void put_prediction();

  const Model& model_;
  const Deployment& deployment_;
  const Encoding& encoding_;
  GraphBuilder builder_;
  std::vector<std::string> parts_;                 ///< features, (batch, some)
  std::map<int, std::vector<std::string>> flags_;  ///< by group
  std::map<double, std::string> scalars_;
  int rows_ = 0;
  std::string fault_;  ///< (batch, 1): NaN where the row does not fit, or 0
};

std::string ColumnsWriter::scalar(double value) {
  if (std::isnan(value)) return builder_.constant("nan", {1}, {value});
  auto [place, is_new] = scalars_.try_emplace(value);
  if (is_new)
    place->second = builder_.constant(fmt::format("number_{}", scalars_.size()), {1}, {value});
  return place->second;
}

std::string ColumnsWriter::row(const std::vector<double>& values) {
  return builder_.constant(fmt::format("row_{}", ++rows_), {1, std::ssize(values)}, values);
}

/// Also where d is so small that 1 + d has lost its digits: by as much as it lost.
std::string ColumnsWriter::log1p(std::string d) {
  const std::string sum = put("Add", {d, scalar(1)});
  const std::string kept = put("Sub", {sum, scalar(1)});
  const std::string log = put("Mul", {put("Log", {sum}), put("Div", {d, kept})});
  return put("Where", {put("Equal", {kept, scalar(0)}), d, log});
}

/// Not finite numbers give something; what they give is put right by the caller.
std::string ColumnsWriter::scaled(const Column& column) {
  put("Min", {put("Max", {column.name, scalar(column.min)}), scalar(column.max)});
  if (!column.log1p)
    return put(
        "Div",
        {put("Sub", {builder_.last(), scalar(column.min)}), scalar(column.max - column.min)});
  const double least = std::log1p(column.min);
  put("Sub", {log1p(builder_.last()), scalar(least)});
  put("Div", {builder_.last(), scalar(std::log1p(column.max) - least)});
  return put("Min", {put("Max", {builder_.last(), scalar(0)}), scalar(1)});
}

std::string ColumnsWriter::bins(const Column& column) {
  std::vector<double> lows = column.edges;
  std::vector<double> highs = column.edges;
  lows.insert(lows.begin(), -kInfinite);
  highs.push_back(kInfinite);
  const std::string below = put("Less", {column.name, row(lows)});
  return as_numbers(put("And", {put("Not", {below}), put("Less", {column.name, row(highs)})}));
}

void ColumnsWriter::put_number(const Column& column) {
  builder_.add_input({column.name, {kFree, 1}, PortType::kDouble});
  std::string missing = put("IsNaN", {column.name});
  for (const double each : encoding_.missing_numbers())
    missing = put("Or", {missing, put("Equal", {column.name, scalar(each)})});
  const bool is_number = column.form == Column::Form::kNumber;
  const std::string present = is_number ? scaled(column) : bins(column);
  // 0, or NaN of what is not finite.
  const std::string sound = put("Add", {present, put("Mul", {column.name, scalar(0)})});
  std::string otherwise = scalar(column.refuses_missing ? kNaN : column.when_missing);
  if (!is_number) {
    std::vector<double> values(column.edges.size() + 1, column.refuses_missing ? kNaN : 0);
    if (column.bin_of_missing != Encoding::kNone)
      values[static_cast<std::size_t>(column.bin_of_missing - column.first)] = 1;
    otherwise = row(values);
  }
  parts_.push_back(put("Where", {missing, otherwise, sound}));
  if (column.missing != Encoding::kNone) parts_.push_back(as_numbers(missing));
}

void ColumnsWriter::put_flag(const Column& column) {
  builder_.add_input({column.name, {kFree, 1}, PortType::kDouble});
  const std::string is_one = put("Equal", {column.name, scalar(1)});
  const std::string is_flag = put("Or", {is_one, put("Equal", {column.name, scalar(0)})});
  parts_.push_back(put("Where", {is_flag, as_numbers(is_one), scalar(kNaN)}));
  flags_[column.group].push_back(parts_.back());
}

void ColumnsWriter::put_text(const Column& column) {
  builder_.add_input({column.name, {kFree, 1}, PortType::kText});
  std::vector<std::string> keys;
  std::vector<std::int64_t> places;
  for (const auto& each : column.spellings) {
    keys.push_back(each.text);
    places.push_back(each.feature);
  }
  for (const std::string& each : encoding_.missing)
    if (std::find(keys.begin(), keys.end(), each) == keys.end()) {
      keys.push_back(each);
      places.push_back(column.missing_text());
    }
  const std::string place = builder_.put("ai.onnx.ml::LabelEncoder",
                                         {column.name},
                                         {texts("keys_strings", std::move(keys)),
                                          integers("values_int64s", std::move(places)),
                                          integer("default_int64", column.other)});
  std::vector<double> all;
  for (std::int64_t k = 0; k < column.features; ++k)
    all.push_back(static_cast<double>(column.first + k));
  const std::string range =
      builder_.whole_constant(fmt::format("row_{}", ++rows_), {1, column.features}, std::move(all));
  parts_.push_back(as_numbers(put("Equal", {place, range})));
}

/// (batch, features), as tables store them.
std::string ColumnsWriter::features() {
  for (const Column& column : encoding_.columns) {
    if (column.is_text())
      put_text(column);
    else if (column.form == Column::Form::kFlag)
      put_flag(column);
    else
      put_number(column);
  }
  builder_.put("Concat", parts_, {integer("axis", 1)});
  const std::string all = in_single(builder_.last());
  std::vector<double> zeros(static_cast<std::size_t>(encoding_.features), 0);
  fault_ = put("MatMul", {all, builder_.constant("zeros", {encoding_.features, 1}, zeros)});
  for (const auto& [group, flags] : flags_) {
    std::string sum = flags.front();
    for (std::size_t k = 1; k < flags.size(); ++k) sum = put("Add", {sum, flags[k]});
    put("Where", {put("Less", {sum, scalar(1.5)}), scalar(0), scalar(kNaN)});
    fault_ = put("Add", {fault_, builder_.last()});
  }
  return all;
}

std::string ColumnsWriter::linear_scores(const std::string& features) {
  const double* w = model_.w.data();
  const std::int64_t count = deployment_.features;
  const std::string weights = builder_.constant("weight", {count, 1}, {w, w + count});
  const std::string bias = scalar(deployment_.bias ? w[count] : 0);
  if (deployment_.row_norm == 0) return put("Add", {put("MatMul", {features, weights}), bias});
  const std::string bound = scalar(deployment_.row_norm);
  builder_.put("ReduceSumSquare", {features}, {integers("axes", {1}), integer("keepdims", 1)});
  if (deployment_.bias) put("Add", {builder_.last(), scalar(1)});
  const std::string norm = put("Sqrt", {builder_.last()});
  const double slack = shrinking(count + (deployment_.bias ? 1 : 0));
  const std::string factor = put("Where",
                                 {put("Greater", {norm, bound}),
                                  put("Mul", {put("Div", {bound, norm}), scalar(slack)}),
                                  scalar(1)});
  const std::string rows = in_single(put("Mul", {features, factor}));
  const std::string sum = put("MatMul", {rows, weights});
  return put("Add", {sum, put("Mul", {in_single(factor), bias})});
}

Expected<std::string> ColumnsWriter::network_scores(const std::string& features) {
  SOTTO_ASSIGN(const NetworkSpec spec, parse_network(model_.network, "the model's network"));
  SOTTO_ASSIGN(const auto shapes, shapes_of(spec));
  const auto ranges = parameter_ranges(spec);
  const bool single = needs_single(spec);
  builder_.set_last(features);
  if (single) {
    builder_.cast(features, CastTo::kSingle);
    builder_.set_wide(false);
  }
  if (spec.input.height * spec.input.width > 1) {
    const std::string shape = builder_.whole_constant("image",
                                                      {4},
                                                      {0,
                                                       static_cast<double>(spec.input.channels),
                                                       static_cast<double>(spec.input.height),
                                                       static_cast<double>(spec.input.width)});
    put("Reshape", {builder_.last(), shape});
  }
  // The weights that predict computes with.
  std::vector<double> w(model_.w.begin(), model_.w.end());
  std::transform(w.begin(), w.end(), w.begin(), deploy::in_single);
  LayerWriter layers(builder_, spec.input);
  layers.put_constants(spec.mean, spec.deviation);
  for (std::size_t i = 0; i < spec.layers.size(); ++i)
    layers.put_layer(spec.layers[i], shapes[i + 1], w.data() + ranges[i].begin, i + 1);
  layers.finish();
  builder_.set_wide(true);
  return single ? builder_.cast(builder_.last(), CastTo::kDouble) : builder_.last();
}

void ColumnsWriter::put_probabilities() {
  if (deployment_.outputs == 1)
    builder_.put("Concat",
                 {put("Sigmoid", {put("Neg", {"scores"})}), put("Sigmoid", {"scores"})},
                 {integer("axis", 1)});
  else
    builder_.put("Softmax", {"scores"}, {integer("axis", 1)});
  put("Add", {builder_.last(), fault_});
  builder_.name_output(
      "probabilities", {kFree, std::ssize(deployment_.classes)}, PortType::kDouble);
}

void ColumnsWriter::put_class() {
  std::vector<std::string> names = deployment_.classes;
  const std::string none =
      builder_.whole_constant("none", {1}, {static_cast<double>(names.size())});
  names.emplace_back();
  const std::string place =
      deployment_.outputs == 1
          ? builder_.cast(put("Greater", {"scores", scalar(0)}), CastTo::kInt64)
          : builder_.put("ArgMax", {"scores"}, {integer("axis", 1), integer("keepdims", 1)});
  const std::string flat = builder_.whole_constant("flat", {1}, {-1});
  put("Where", {put("IsNaN", {fault_}), none, place});
  put("Reshape", {builder_.last(), flat});
  builder_.put("Gather",
               {builder_.text_constant("class_names", std::move(names)), builder_.last()},
               {integer("axis", 0)});
  builder_.name_output("class", {kFree}, PortType::kText);
}

void ColumnsWriter::put_prediction() {
  const LossKind kind = deployment_.linear ? deployment_.loss.kind : LossKind::kSquared;
  if (kind == LossKind::kPhaseRetrieval) {
    put("Mul", {"scores", "scores"});
  } else if (kind == LossKind::kPoisson) {
    // Taken before the exponential, which then stays finite: the rate is at most the threshold.
    put("Exp", {put("Min", {"scores", scalar(std::log(deployment_.loss.threshold))})});
  } else {
    put("Identity", {"scores"});
  }
  put("Add", {builder_.last(), fault_});
  put("Reshape", {builder_.last(), builder_.whole_constant("flat", {1}, {-1})});
  builder_.name_output("prediction", {kFree}, PortType::kDouble);
}

Expected<Graph> ColumnsWriter::write() && {
  const std::string x = features();
  std::string scores;
  if (deployment_.linear) {
    scores = linear_scores(x);
  } else {
    SOTTO_ASSIGN(scores, network_scores(x));
  }
  put("Add", {scores, fault_});
  builder_.name_output("scores", {kFree, deployment_.outputs}, PortType::kDouble);
  if (deployment_.kind.probabilities) put_probabilities();
  if (deployment_.kind.classes)
    put_class();
  else
    put_prediction();
  Graph graph = std::move(builder_).finish();
  auto inputs = nlohmann::json::array();
  for (const Column& column : encoding_.columns)
    inputs.push_back({{"name", column.name}, {"type", column.is_text() ? "text" : "number"}});
  graph.metadata[kColumnsKey] = json_text(inputs);
  return graph;
}

}  // namespace

Expected<Graph> columns_graph(const Model& model) {
  SOTTO_ASSIGN(const Deployment deployment, deploy::deployment_of(model));
  return columns_graph(model, deployment);
}

Expected<Graph> columns_graph(const Model& model, const Deployment& deployment) {
  SOTTO_TRY(check_columns(*deployment.encoding));
  return ColumnsWriter(model, deployment).write();
}

}  // namespace sotto::onnx_file
