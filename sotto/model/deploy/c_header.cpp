#include "sotto/model/deploy/c_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/data/row_scale.hpp"
#include "sotto/model/deploy/c_encoding.hpp"
#include "sotto/model/deploy/c_text.hpp"
#include "sotto/model/deploy/deployment.hpp"
#include "sotto/model/statement.hpp"

namespace sotto::deploy {
namespace {

class HeaderWriter {
 public:
  HeaderWriter(const Deployment& model, std::vector<Layer> layers, std::string name)
      : model_(model), layers_(std::move(layers)), name_(std::move(name)) {}

  std::string comment(const std::string& statement, const std::vector<std::string>& facts) const;
  std::string code() const;

 private:
  std::string row() const {
    return model_.encoding ? fmt::format("const {}_row *row", name_)
                           : fmt::format("const double row[{}]", model_.features);
  }
  std::string numbers(const char* name, const std::vector<double>& values) const;
  std::string features() const;
  std::string layer(const Layer& layer, std::size_t k) const;
  std::string outputs() const;
  std::string scores() const;
  std::string probabilities() const;
  std::string label() const;
  std::string prediction() const;
  bool has_one_score() const { return model_.outputs == 1; }

  const Deployment& model_;
  std::vector<Layer> layers_;
  std::string name_;
};

std::string HeaderWriter::comment(const std::string& statement,
                                  const std::vector<std::string>& facts) const {
  std::string text = fmt::format("/* A model as C functions, written by `sotto export`. {}\n *\n",
                                 c_comment(statement));
  text +=
      model_.encoding
          ? " * A row is a struct with a field per column of the schema: a number, NAN where it "
            "is missing, or a\n * text, NULL where it is missing. A row that the schema does "
            "not allow has no answer: its score and\n * its probabilities are NAN, its class is "
            "NULL. Do not compile with -ffast-math.\n"
          : " * A row is an array of the features that the model was trained on. Do not compile "
            "with -ffast-math.\n";
  text += " *\n";
  for (const std::string& fact : facts) text += fmt::format(" * {}\n", c_comment(fact));
  return text + " */\n";
}

std::string HeaderWriter::numbers(const char* name, const std::vector<double>& values) const {
  std::string code = fmt::format("  static const double {}[] = {{", name);
  for (std::size_t k = 0; k < values.size(); ++k)
    code +=
        fmt::format("{}{}{}", k > 0 ? "," : "", k % 4 == 0 ? "\n      " : " ", literal(values[k]));
  return code + "};\n";
}

/// x, with the intercept's 1 where rows have one and are scaled.
std::string HeaderWriter::features() const {
  std::string code = fmt::format("  double x[{}];\n", model_.features);
  if (model_.encoding)
    code += fmt::format(
        "  if (!{}_encode(row, x)) {{\n    for (k = 0; k < {}; ++k) s[k] = NAN;\n    return 0;\n"
        "  }}\n",
        name_,
        model_.outputs);
  else
    code +=
        fmt::format("  for (k = 0; k < {}; ++k) x[k] = (double)(float)row[k];\n", model_.features);
  if (model_.row_norm == 0) return code;
  const std::int64_t dim = model_.features + (model_.bias ? 1 : 0);
  code += fmt::format(
      "  /* Longer rows were scaled down to this norm. */\n"
      "  for (k = 0; k < {}; ++k) norm += x[k] * x[k];\n{}  norm = sqrt(norm);\n",
      model_.features,
      model_.bias ? "  norm += 1.0;\n" : "");
  code += fmt::format(
      "  if (norm > {0}) {{\n    scale = {0} / norm * {1};\n"
      "    for (k = 0; k < {2}; ++k) x[k] = (double)(float)(x[k] * scale);\n"
      "    scale = (double)(float)scale;\n  }}\n",
      literal(model_.row_norm),
      literal(shrinking(dim)),
      model_.features);
  return code;
}

std::string HeaderWriter::layer(const Layer& layer, std::size_t k) const {
  const std::string in = k == 0 ? "x" : fmt::format("y{}", k);
  const std::string out = k + 1 == layers_.size() ? "s" : fmt::format("y{}", k + 1);
  std::string code;
  if (layer.kind != Layer::Kind::kLinear) {
    const char* formula = layer.kind == Layer::Kind::kRelu      ? "v > 0.0 ? v : 0.0"
                          : layer.kind == Layer::Kind::kTanh    ? "tanh(v)"
                          : layer.kind == Layer::Kind::kSigmoid ? "1.0 / (1.0 + exp(-v))"
                                                                : "0.5 * v * (1.0 + erf(v * "
                                                                  "0.70710678118654752))";
    return fmt::format(
        "  for (k = 0; k < {}; ++k) {{\n    const double v = {}[k];\n"
        "    {}[k] = {};\n  }}\n",
        layer.outputs,
        in,
        out,
        formula);
  }
  code = fmt::format(
      "  for (k = 0; k < {0}; ++k) {{\n    double sum = 0.0;\n"
      "    for (j = 0; j < {1}; ++j) sum += {2}[j] * w{3}[k * {1} + j];\n",
      layer.outputs,
      layer.inputs,
      in,
      k + 1);
  const char* bias = model_.row_norm > 0 ? "scale * " : "";
  if (!layer.biases.empty()) code += fmt::format("    sum += {}b{}[k];\n", bias, k + 1);
  return code + fmt::format("    {}[k] = sum;\n  }}\n", out);
}

/// All that is computed of a row: NAME_scores(row, s), 0 if the row does not fit.
std::string HeaderWriter::outputs() const {
  std::string code = fmt::format(
      "\n/* The scores of a row; 0 if it does not fit the schema. */\n"
      "static inline int {}_scores({}, double s[{}]) {{\n",
      name_,
      row(),
      model_.outputs);
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    if (layers_[k].kind != Layer::Kind::kLinear) continue;
    code += numbers(fmt::format("w{}", k + 1).c_str(), layers_[k].weights);
    if (!layers_[k].biases.empty())
      code += numbers(fmt::format("b{}", k + 1).c_str(), layers_[k].biases);
  }
  for (std::size_t k = 0; k + 1 < layers_.size(); ++k)
    code += fmt::format("  double y{}[{}];\n", k + 1, layers_[k].outputs);
  const bool sums = std::any_of(layers_.begin(), layers_.end(), [](const Layer& each) {
    return each.kind == Layer::Kind::kLinear;
  });
  if (model_.row_norm > 0)
    code += model_.bias ? "  double norm = 0.0, scale = 1.0;\n" : "  double norm = 0.0, scale;\n";
  code += sums ? "  int j, k;\n" : "  int k;\n";
  code += features();
  for (std::size_t k = 0; k < layers_.size(); ++k) code += layer(layers_[k], k);
  if (layers_.empty())
    code += fmt::format("  for (k = 0; k < {}; ++k) s[k] = x[k];\n", model_.features);
  return code + "  return 1;\n}\n";
}

std::string HeaderWriter::scores() const {
  if (!has_one_score()) return "";
  return fmt::format(
      "\nstatic inline double {0}_score({1}) {{\n  double s[1];\n"
      "  {0}_scores(row, s);\n  return s[0];\n}}\n",
      name_,
      row());
}

std::string HeaderWriter::probabilities() const {
  if (!model_.kind.probabilities) return "";
  std::string code = fmt::format(
      "\n/* Of each class, in the order of {0}_class_names(). */\n"
      "static inline void {0}_probabilities({1}, double p[{2}]) {{\n",
      name_,
      row(),
      model_.classes.size());
  if (has_one_score())
    return code + fmt::format(
                      "  const double s = {}_score(row);\n"
                      "  p[0] = 1.0 / (1.0 + exp(s));\n  p[1] = 1.0 / (1.0 + exp(-s));\n"
                      "}}\n",
                      name_);
  return code + fmt::format(
                    "  double largest, sum = 0.0;\n  int k;\n  {0}_scores(row, p);\n"
                    "  largest = p[0];\n"
                    "  for (k = 1; k < {1}; ++k)\n    if (p[k] > largest) largest = p[k];\n"
                    "  for (k = 0; k < {1}; ++k) sum += p[k] = exp(p[k] - largest);\n"
                    "  for (k = 0; k < {1}; ++k) p[k] /= sum;\n}}\n",
                    name_,
                    model_.outputs);
}

std::string HeaderWriter::label() const {
  if (!model_.kind.classes) return "";
  std::string code = fmt::format(
      "\nstatic inline const char *const *{}_class_names(void) {{\n"
      "  static const char *const names[] = {{",
      name_);
  for (std::size_t k = 0; k < model_.classes.size(); ++k)
    code += fmt::format("{}\n      {}", k > 0 ? "," : "", c_string(model_.classes[k]));
  code += fmt::format(
      "}};\n  return names;\n}}\n"
      "\n/* The class that is predicted; NULL if the row does not fit. */\n"
      "static inline const char *{0}_class({1}) {{\n  double s[{2}];\n  int ",
      name_,
      row(),
      model_.outputs);
  code += has_one_score() ? "at;\n" : "k, at = 0;\n";
  code += fmt::format("  if (!{0}_scores(row, s)) return NULL;\n", name_);
  code += has_one_score()
              ? "  at = s[0] > 0.0;\n"
              : fmt::format("  for (k = 1; k < {}; ++k)\n    if (s[k] > s[at]) at = k;\n",
                            model_.outputs);
  return code + fmt::format("  return {}_class_names()[at];\n}}\n", name_);
}

std::string HeaderWriter::prediction() const {
  if (model_.kind.classes) return "";
  std::string formula = "s";
  if (model_.linear && model_.loss.kind == LossKind::kPhaseRetrieval) formula = "s * s";
  if (model_.linear && model_.loss.kind == LossKind::kPoisson)
    formula = fmt::format("exp(s) > {0} ? {0} : exp(s)", literal(model_.loss.threshold));
  return fmt::format(
      "\n/* The number that is predicted; NAN if the row does not fit. */\n"
      "static inline double {0}_prediction({1}) {{\n"
      "  const double s = {0}_score(row);\n  return {2};\n}}\n",
      name_,
      row(),
      formula);
}

std::string HeaderWriter::code() const {
  std::string guard = name_ + "_H";
  std::transform(guard.begin(), guard.end(), guard.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  std::string code = fmt::format(
      "#ifndef SOTTO_{0}\n#define SOTTO_{0}\n\n#include <float.h>\n#include <math.h>\n"
      "#include <stddef.h>\n#include <string.h>\n",
      guard);
  if (model_.encoding) code += c_encoding(*model_.encoding, name_);
  return code + outputs() + scores() + probabilities() + label() + prediction() + "\n#endif\n";
}

}  // namespace
}  // namespace sotto::deploy

namespace sotto {

std::string c_name(const std::string& name) { return deploy::c_identifier(name); }

Expected<std::string> to_c_header(const Model& model, const std::string& name) {
  SOTTO_ASSIGN(const deploy::Deployment deployment, deploy::deployment_of(model));
  SOTTO_ASSIGN(auto layers, deploy::layers_of(model, "Use ‘format onnx’."));
  SOTTO_ASSIGN(const auto facts, deploy::fact_lines(model));
  const deploy::HeaderWriter writer(deployment, std::move(layers), c_name(name));
  return writer.comment(statement_text(model), facts) + writer.code();
}

}  // namespace sotto
