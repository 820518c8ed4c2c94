#include "sotto/model/onnx/builder.hpp"

#include <fmt/format.h>

#include <memory>

namespace sotto::onnx_file {

Attribute integer(const char* name, std::int64_t value) {
  Attribute attribute;
  attribute.name = name;
  attribute.kind = AttributeKind::kInt;
  attribute.integer = value;
  return attribute;
}

Attribute number(const char* name, double value) {
  Attribute attribute;
  attribute.name = name;
  attribute.kind = AttributeKind::kFloat;
  attribute.number = value;
  return attribute;
}

Attribute integers(const char* name, std::vector<std::int64_t> values) {
  Attribute attribute;
  attribute.name = name;
  attribute.kind = AttributeKind::kInts;
  attribute.integers = std::move(values);
  return attribute;
}

Attribute texts(const char* name, std::vector<std::string> values) {
  Attribute attribute;
  attribute.name = name;
  attribute.kind = AttributeKind::kTexts;
  attribute.texts = std::move(values);
  return attribute;
}

std::string GraphBuilder::put(const std::string& op,
                              std::vector<std::string> inputs,
                              std::vector<Attribute> attributes) {
  const std::size_t count = graph_.nodes.size() + 1;
  Node node;
  node.op = op;
  node.name = fmt::format("{}_{}", op.substr(op.rfind(':') + 1), count);
  node.inputs = std::move(inputs);
  node.outputs = {fmt::format("{}value_{}", prefix_, count)};
  node.attributes = std::move(attributes);
  last_ = node.outputs[0];
  graph_.nodes.push_back(std::move(node));
  return last_;
}

std::string GraphBuilder::add_constant(const std::string& name, Tensor tensor) {
  graph_.constants[prefix_ + name] = std::make_shared<Tensor>(std::move(tensor));
  return prefix_ + name;
}

std::string GraphBuilder::constant(const std::string& name, Dims dims, std::vector<double> values) {
  Tensor tensor;
  tensor.dims = std::move(dims);
  tensor.values = std::move(values);
  tensor.wide = wide_;
  return add_constant(name, std::move(tensor));
}

std::string GraphBuilder::whole_constant(const std::string& name,
                                         Dims dims,
                                         std::vector<double> values) {
  Tensor tensor;
  tensor.dims = std::move(dims);
  tensor.values = std::move(values);
  tensor.whole = true;
  return add_constant(name, std::move(tensor));
}

std::string GraphBuilder::text_constant(const std::string& name, std::vector<std::string> values) {
  Tensor tensor;
  tensor.dims = {std::ssize(values)};
  tensor.texts = std::move(values);
  return add_constant(name, std::move(tensor));
}

void GraphBuilder::add_input(Port port) {
  last_ = port.name;
  graph_.inputs.push_back(std::move(port));
}

void GraphBuilder::name_output(const std::string& name, Dims dims, PortType type) {
  graph_.nodes.back().outputs[0] = name;
  last_ = name;
  graph_.outputs.push_back({name, std::move(dims), type});
}

}  // namespace sotto::onnx_file
