#include "sotto/model/deploy/sql.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sotto/data/row_scale.hpp"
#include "sotto/model/deploy/deployment.hpp"
#include "sotto/model/deploy/sql_encoding.hpp"
#include "sotto/model/deploy/sql_text.hpp"
#include "sotto/model/statement.hpp"

namespace sotto::deploy {
namespace {

constexpr std::size_t kMostBytes = 1'000'000;  ///< of a statement, in SQLite as it is built
constexpr std::size_t kMostNameBytes = 63;     ///< in PostgreSQL
constexpr std::size_t kMostColumns = 1600;     ///< of a step, in PostgreSQL
constexpr const char* kInsteadOfSql = "Use ‘format onnx’ or ‘format c’.";

std::string hidden(std::int64_t k) { return fmt::format("h{}", k); }

/// A table's name with its parts in quotes; kUsage if it has a quote that is not closed.
Expected<std::string> quoted_table(std::string_view name) {
  std::string result;
  for (std::string_view rest = name;;) {
    std::string part;
    std::size_t end = rest.find('.');
    if (rest.starts_with('"')) {
      for (end = 1; end < rest.size(); ++end) {
        if (rest[end] == '"' && (end + 1 == rest.size() || rest[end + 1] != '"')) break;
        if (rest[end] == '"') ++end;
        part += rest[end];
      }
      end = end < rest.size() ? end + 1 : std::string_view::npos;
      if (end == rest.npos || (end < rest.size() && rest[end] != '.')) part.clear();
    } else {
      part = rest.substr(0, end);
    }
    if (part.empty())
      return fail(ErrorKind::kUsage,
                  fmt::format("‘table’ is no name of a table: '{}'. Give NAME or SCHEMA.NAME; a "
                              "part with a dot of its own goes in double quotes.",
                              name));
    result += (result.empty() ? "" : ".") + sql_name(part);
    if (end >= rest.size()) return result;
    rest.remove_prefix(end + 1);
  }
}

class SqlWriter {
 public:
  SqlWriter(const Deployment& model, std::vector<Layer> layers, const SqlOptions& options)
      : model_(model), layers_(std::move(layers)), options_(options) {}

  Expected<std::string> write() const;

 private:
  Expected<void> check_names(const std::vector<std::string>& answers) const;
  std::vector<std::string> probability_names() const;
  void keep_kept(SqlSteps& steps) const;
  void name_kept(SqlSteps& steps) const;
  void add_layer(SqlSteps& steps, const SqlEncoding& encoding, std::size_t k) const;
  void add_two_classes(SqlSteps& steps) const;
  void add_classes(SqlSteps& steps) const;
  void add_number(SqlSteps& steps) const;
  std::string label(std::size_t c) const { return sql_string(model_.classes[c]); }

  const Deployment& model_;
  std::vector<Layer> layers_;
  const SqlOptions& options_;
};

std::vector<std::string> SqlWriter::probability_names() const {
  if (!model_.kind.probabilities) return {};
  if (model_.classes.size() == 2) return {"probability"};
  std::vector<std::string> names;
  for (const std::string& name : model_.classes) names.push_back("probability of " + name);
  if (std::any_of(names.begin(), names.end(), [](const std::string& name) {
        return name.size() > kMostNameBytes;
      }))
    for (std::size_t c = 0; c < names.size(); ++c)
      names[c] = fmt::format("probability of class {}", c + 1);
  return names;
}

Expected<void> SqlWriter::check_names(const std::vector<std::string>& answers) const {
  std::set<std::string> seen(answers.begin(), answers.end());
  for (const std::string& name : options_.keep)
    if (name.empty() || !seen.insert(name).second)
      return fail(ErrorKind::kUsage,
                  fmt::format("‘keep’ names '{}', which would be two columns of the answer. Rename "
                              "it in a view, or leave it out.",
                              name));
  return {};
}

void SqlWriter::keep_kept(SqlSteps& steps) const {
  for (std::size_t k = 0; k < options_.keep.size(); ++k) steps.keep(fmt::format("k{}", k));
}

/// In the answer, by their own names.
void SqlWriter::name_kept(SqlSteps& steps) const {
  for (std::size_t k = 0; k < options_.keep.size(); ++k)
    steps.add(sql_name(options_.keep[k]), fmt::format("k{}", k));
}

void SqlWriter::add_layer(SqlSteps& steps, const SqlEncoding& encoding, std::size_t k) const {
  const Layer& layer = layers_[k];
  for (std::int64_t o = 0; o < layer.outputs; ++o) {
    const double* w = layer.weights.data() + o * layer.inputs;
    const std::string in = hidden(o);
    std::string formula;
    switch (layer.kind) {
      case Layer::Kind::kLinear: {
        const double bias = layer.biases.empty() ? 0 : layer.biases[static_cast<std::size_t>(o)];
        if (k == 0) {
          formula = encoding.sum(w, bias);
          break;
        }
        std::vector<std::string> terms;
        for (std::int64_t i = 0; i < layer.inputs; ++i)
          terms.push_back(fmt::format("{} * {}", hidden(i), literal(w[i])));
        terms.push_back(literal(bias));
        formula = sql_sum(terms);
        break;
      }
      case Layer::Kind::kRelu:  // NULL stays NULL
        formula = fmt::format("CASE WHEN {0} <= 0.0 THEN 0.0 ELSE {0} END", in);
        break;
      case Layer::Kind::kTanh:
        formula = fmt::format("tanh({})", in);
        break;
      default:
        formula = sql_sigmoid(in);
    }
    steps.add(hidden(o), formula);
  }
  keep_kept(steps);
  steps.end_step();
}

void SqlWriter::add_two_classes(SqlSteps& steps) const {
  name_kept(steps);
  steps.add(
      "prediction",
      fmt::format("CASE WHEN h0 > 0.0 THEN {} WHEN h0 <= 0.0 THEN {} END", label(1), label(0)));
  if (model_.kind.probabilities) steps.add("probability", sql_sigmoid("h0"));
  steps.add("score", "h0");
}

/// The first of the largest scores wins, as in predict.
void SqlWriter::add_classes(SqlSteps& steps) const {
  const auto classes = static_cast<std::int64_t>(model_.classes.size());
  std::string place = "CASE";
  std::string largest = "CASE";
  for (std::int64_t c = 0; c + 1 < classes; ++c) {
    std::string wins;
    for (std::int64_t other = c + 1; other < classes; ++other)
      wins += fmt::format("{}h{} >= h{}", wins.empty() ? " WHEN " : " AND ", c, other);
    place += fmt::format("{} THEN {}", wins, c);
    largest += fmt::format("{} THEN h{}", wins, c);
  }
  steps.add("a", place + fmt::format(" WHEN h{0} IS NOT NULL THEN {0} END", classes - 1));
  steps.add("l", largest + fmt::format(" ELSE h{} END", classes - 1));
  for (std::int64_t c = 0; c < classes; ++c) steps.keep(hidden(c));
  keep_kept(steps);
  steps.end_step();
  std::vector<std::string> all;
  for (std::int64_t c = 0; c < classes; ++c) {
    steps.add(fmt::format("e{}", c),
              fmt::format("exp(CASE WHEN h{0} - l < -700.0 THEN -700.0 ELSE h{0} - l END)", c));
    all.push_back(fmt::format("e{}", c));
  }
  steps.keep("a");
  keep_kept(steps);
  steps.end_step();
  name_kept(steps);
  std::string label_of = "CASE a";
  for (std::size_t c = 0; c < model_.classes.size(); ++c)
    label_of += fmt::format(" WHEN {} THEN {}", c, label(c));
  steps.add("prediction", label_of + " END");
  const auto names = probability_names();
  for (std::size_t c = 0; c < names.size(); ++c)
    steps.add(sql_name(names[c]),
              fmt::format("e{} / ({})", names.size() == 1 ? 1 : c, sql_sum(all)));
}

void SqlWriter::add_number(SqlSteps& steps) const {
  name_kept(steps);
  const LossKind kind = model_.linear ? model_.loss.kind : LossKind::kSquared;
  const double most = model_.loss.threshold;
  if (kind == LossKind::kPhaseRetrieval) {
    steps.add("prediction", "h0 * h0");
  } else if (kind == LossKind::kPoisson) {
    steps.add("prediction",
              fmt::format("CASE WHEN h0 > {} THEN {} WHEN h0 < -700.0 THEN 0.0 ELSE exp(h0) END",
                          literal(std::log(most)),
                          literal(most)));
  } else {
    steps.add("prediction", "h0");
  }
}

Expected<std::string> SqlWriter::write() const {
  std::vector<std::string> answers = {"prediction", "score"};
  for (const std::string& name : probability_names()) answers.push_back(name);
  SOTTO_TRY(check_names(answers));
  SOTTO_ASSIGN(const std::string table, quoted_table(options_.table));
  SOTTO_ASSIGN(const SqlEncoding encoding,
               SqlEncoding::of(*model_.encoding, model_.row_norm, model_.bias));
  SqlSteps steps(table + " AS t");
  for (std::size_t k = 0; k < options_.keep.size(); ++k)
    steps.add(fmt::format("k{}", k), "t." + sql_name(options_.keep[k]));
  encoding.add_features(steps, [&](SqlSteps& of) { keep_kept(of); });
  for (std::size_t k = 0; k < layers_.size(); ++k) add_layer(steps, encoding, k);
  if (model_.kind.classes && model_.outputs == 1)
    add_two_classes(steps);
  else if (model_.kind.classes)
    add_classes(steps);
  else
    add_number(steps);
  if (steps.widest() > kMostColumns)
    return fail(
        ErrorKind::kUsage,
        fmt::format("the statement would compute {} columns at once, and PostgreSQL takes at "
                    "most {}. {}",
                    steps.widest(),
                    kMostColumns,
                    kInsteadOfSql));
  return std::move(steps).text();
}

}  // namespace
}  // namespace sotto::deploy

namespace sotto {

Expected<std::string> to_sql(const Model& model, const SqlOptions& options) {
  using namespace deploy;
  SOTTO_ASSIGN(const Deployment deployment, deployment_of(model));
  if (!deployment.encoding)
    return fail(
        ErrorKind::kUsage,
        fmt::format("the model has no schema: it takes numbers without names, and SQL would "
                    "not know its columns. {} Or train with ‘schema’.",
                    kInsteadOfSql));
  SOTTO_ASSIGN(auto layers, layers_of(model, kInsteadOfSql));
  if (layers.empty() || layers.front().kind != Layer::Kind::kLinear ||
      std::any_of(layers.begin(), layers.end(), [](const Layer& layer) {
        return layer.kind == Layer::Kind::kGelu;
      }))
    return fail(ErrorKind::kUsage,
                fmt::format("SQL has networks whose first layer is linear and whose others are "
                            "linear, relu, tanh or sigmoid. {}",
                            kInsteadOfSql));
  SOTTO_ASSIGN(const auto facts, fact_lines(model));
  std::string text = sql_comment("Written by `sotto export`. " + statement_text(model));
  text += sql_comment(
      "For SQLite (3.35 and later, with mathematical functions) and PostgreSQL (12 and later, with "
      "standard_conforming_strings on, as it is).");
  text += sql_comment(
      "A row that the model's schema does not allow gets NULL. NULL is a missing value.");
  for (const std::string& fact : facts) text += sql_comment(fact);
  SOTTO_ASSIGN(const std::string statement,
               SqlWriter(deployment, std::move(layers), options).write());
  if (!options.view.empty()) {
    text += "CREATE VIEW " + sql_name(options.view) + " AS\n";
  }
  text += statement;
  if (text.size() > kMostBytes)
    return fail(ErrorKind::kUsage,
                fmt::format("the statement would have {} bytes, and SQLite takes at most {}. {}",
                            text.size(),
                            kMostBytes,
                            kInsteadOfSql));
  return text;
}

}  // namespace sotto
