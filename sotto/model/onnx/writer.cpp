// A trained model as an ONNX graph.

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/file.hpp"
#include "sotto/model/onnx/columns.hpp"
#include "sotto/model/onnx/layer_writer.hpp"
#include "sotto/model/onnx/onnx.hpp"
#include "sotto/model/statement.hpp"

namespace sotto::onnx_file {
namespace {

/// <w, x> of a linear model, on rows that are scaled down to the row norm like those it was
/// trained on.
Expected<Graph> linear_graph(const Model& model) {
  const std::int64_t features = model.w.size() - (model.bias ? 1 : 0);
  if (features < 1) return fail(ErrorKind::kBadData, "the model has no weights.");
  GraphBuilder writer;
  writer.add_input({"input", {kFree, features}});
  const std::string x = writer.last();
  std::vector<std::string> inputs{
      x, writer.constant("weight", {1, features}, {model.w.data(), model.w.data() + features})};
  if (model.bias) inputs.push_back(writer.constant("bias", {1}, {model.w[features]}));
  std::string scores = writer.put("Gemm", inputs, {integer("transB", 1)});
  if (model.row_norm > 0) {
    // scores · R / max(|row|, R), where the row has a 1 for the intercept.
    const std::string bound = writer.constant("row_norm", {1}, {model.row_norm});
    writer.put("ReduceSumSquare", {x}, {integers("axes", {1}), integer("keepdims", 1)});
    if (model.bias) writer.put("Add", {writer.last(), writer.constant("one", {1}, {1})});
    writer.put("Sqrt", {writer.last()});
    writer.put("Max", {writer.last(), bound});
    const std::string factor = writer.put("Div", {bound, writer.last()});
    scores = writer.put("Mul", {scores, factor});
  }
  if (model.loss.kind == LossKind::kPhaseRetrieval) writer.put("Mul", {scores, scores});
  if (model.loss.kind == LossKind::kPoisson) {
    // Taken before the exponential, which then stays finite: the rate is at most the threshold.
    const std::string last = writer.constant("largest", {1}, {std::log(model.loss.threshold)});
    writer.put("Exp", {writer.put("Min", {scores, last})});
  }
  writer.name_output("scores", {kFree, 1}, PortType::kSingle);
  return std::move(writer).finish();
}

Expected<Graph> network_graph(const Model& model) {
  SOTTO_ASSIGN(const NetworkSpec spec, parse_network(model.network, "the model's network"));
  SOTTO_ASSIGN(const auto shapes, shapes_of(spec));
  const auto ranges = parameter_ranges(spec);
  if (model.w.size() != parameter_count(spec))
    return fail(ErrorKind::kBadData,
                fmt::format("the model has {} weights, but its network has {} parameters.",
                            model.w.size(),
                            parameter_count(spec)));
  GraphBuilder builder;
  builder.add_input({"input", LayerWriter::input_dims(spec.input)});
  LayerWriter writer(builder, spec.input);
  writer.put_constants(spec.mean, spec.deviation);
  for (std::size_t i = 0; i < spec.layers.size(); ++i)
    writer.put_layer(spec.layers[i], shapes[i + 1], model.w.data() + ranges[i].begin, i + 1);
  const std::int64_t outputs = writer.finish();
  builder.name_output("scores", {kFree, outputs}, PortType::kSingle);
  return std::move(builder).finish();
}

}  // namespace
}  // namespace sotto::onnx_file

namespace sotto {

Expected<std::string> to_onnx(const Model& model, OnnxInput input) {
  const bool columns = input == OnnxInput::kColumns && !model.schema.empty();
  SOTTO_ASSIGN(onnx_file::Graph graph,
               columns                 ? onnx_file::columns_graph(model)
               : model.network.empty() ? onnx_file::linear_graph(model)
                                       : onnx_file::network_graph(model));
  graph.opset = 13;
  graph.description = statement_text(model);
  SOTTO_ASSIGN(auto facts, statement_facts(model));
  graph.metadata.merge(facts);
  return onnx_file::serialize(graph);
}

Expected<void> save_onnx(const Model& model, const std::string& path, OnnxInput input) {
  SOTTO_ASSIGN(const std::string bytes, to_onnx(model, input));
  return write_file_atomically(path, bytes);
}

}  // namespace sotto
