// The only file that knows ONNX's protocol buffers.

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "sotto/core/version.hpp"
#include "sotto/model/onnx/graph.hpp"

namespace sotto::onnx_file {
namespace {

constexpr std::int64_t kMostValues = std::int64_t{1} << 28;  ///< of one constant
constexpr int kMostNodes = 100'000;
constexpr int kIrVersion = 7;       ///< the one of opset 13
constexpr int kClassicVersion = 2;  ///< of the operators for tables, ai.onnx.ml

tl::unexpected<Error> bad(std::string text) { return fail(ErrorKind::kBadData, std::move(text)); }

template <class Number>
std::vector<double> from_raw(const std::string& raw) {
  // A last piece counts too, so that the number of values can't be right by accident.
  std::vector<double> values((raw.size() + sizeof(Number) - 1) / sizeof(Number));
  for (std::size_t i = 0; i < raw.size() / sizeof(Number); ++i) {
    Number number;
    std::memcpy(&number, raw.data() + i * sizeof(Number), sizeof(Number));
    values[i] = static_cast<double>(number);
  }
  return values;
}

template <class Number, class Field>
std::vector<double> values_of(const onnx::TensorProto& proto, const Field& field) {
  if (proto.has_raw_data()) return from_raw<Number>(proto.raw_data());
  return {field.begin(), field.end()};
}

Expected<TensorPtr> read_tensor(const onnx::TensorProto& proto) {
  const std::string name = shown(proto.name());
  if (proto.data_location() == onnx::TensorProto::EXTERNAL || proto.external_data_size() > 0)
    return bad(fmt::format(
        "the constant '{}' is kept in another file. Export the network into one file.", name));
  if (proto.has_segment()) return bad(fmt::format("the constant '{}' is split.", name));
  auto tensor = std::make_shared<Tensor>();
  tensor->dims.assign(proto.dims().begin(), proto.dims().end());
  const std::int64_t size = bounded_product(tensor->dims, kMostValues);
  if (size < 0) return bad(fmt::format("the constant '{}' has a negative or huge extent.", name));
  switch (proto.data_type()) {
    case onnx::TensorProto::FLOAT:
      tensor->values = values_of<float>(proto, proto.float_data());
      break;
    case onnx::TensorProto::DOUBLE:
      tensor->values = values_of<double>(proto, proto.double_data());
      break;
    case onnx::TensorProto::INT64:
      tensor->values = values_of<std::int64_t>(proto, proto.int64_data());
      tensor->whole = true;
      break;
    case onnx::TensorProto::INT32:
      tensor->values = values_of<std::int32_t>(proto, proto.int32_data());
      tensor->whole = true;
      break;
    case onnx::TensorProto::BOOL:
      tensor->values = proto.has_raw_data() ? from_raw<std::uint8_t>(proto.raw_data())
                                            : std::vector<double>(proto.int32_data().begin(),
                                                                  proto.int32_data().end());
      tensor->whole = true;
      break;
    default:
      return bad(fmt::format(
          "the constant '{}' has a type other than float32, float64, int32, int64 and bool. "
          "Export the network in float32.",
          name));
  }
  if (std::ssize(tensor->values) != size)
    return bad(fmt::format("the constant '{}' has {} numbers, but its extents ask for {}.",
                           name,
                           tensor->values.size(),
                           size));
  return tensor;
}

Expected<Attribute> read_attribute(const onnx::AttributeProto& proto) {
  Attribute attribute;
  attribute.name = proto.name();
  switch (proto.type()) {
    case onnx::AttributeProto::INT:
      attribute.kind = AttributeKind::kInt;
      attribute.integer = proto.i();
      break;
    case onnx::AttributeProto::FLOAT:
      attribute.kind = AttributeKind::kFloat;
      attribute.number = static_cast<double>(proto.f());
      break;
    case onnx::AttributeProto::STRING:
      attribute.kind = AttributeKind::kText;
      attribute.text = proto.s();
      break;
    case onnx::AttributeProto::INTS:
      attribute.kind = AttributeKind::kInts;
      attribute.integers.assign(proto.ints().begin(), proto.ints().end());
      break;
    case onnx::AttributeProto::FLOATS:
      attribute.kind = AttributeKind::kFloats;
      attribute.numbers.assign(proto.floats().begin(), proto.floats().end());
      break;
    case onnx::AttributeProto::TENSOR: {
      attribute.kind = AttributeKind::kTensor;
      SOTTO_ASSIGN(attribute.tensor, read_tensor(proto.t()));
      break;
    }
    default:
      break;
  }
  return attribute;
}

Expected<Node> read_node(const onnx::NodeProto& proto) {
  Node node;
  const bool own = proto.domain().empty() || proto.domain() == "ai.onnx";
  node.op = own ? proto.op_type() : proto.domain() + "::" + proto.op_type();
  node.name = proto.name();
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  for (const auto& each : proto.attribute()) {
    SOTTO_ASSIGN(Attribute attribute, read_attribute(each));
    node.attributes.push_back(std::move(attribute));
  }
  return node;
}

Port read_port(const onnx::ValueInfoProto& proto) {
  Port port;
  port.name = proto.name();
  const auto& type = proto.type().tensor_type();
  port.type = type.elem_type() == onnx::TensorProto::FLOAT    ? PortType::kSingle
              : type.elem_type() == onnx::TensorProto::DOUBLE ? PortType::kDouble
              : type.elem_type() == onnx::TensorProto::STRING ? PortType::kText
                                                              : PortType::kOther;
  for (const auto& each : type.shape().dim())
    port.dims.push_back(each.has_dim_value() ? each.dim_value() : kFree);
  return port;
}

void write_tensor(const std::string& name, const Tensor& tensor, onnx::TensorProto& proto) {
  proto.set_name(name);
  for (const std::int64_t extent : tensor.dims) proto.add_dims(extent);
  if (!tensor.texts.empty()) {
    proto.set_data_type(onnx::TensorProto::STRING);
    for (const std::string& text : tensor.texts) proto.add_string_data(text);
    return;
  }
  std::string raw;
  const auto append = [&](auto number) {
    char bytes[sizeof(number)];
    std::memcpy(bytes, &number, sizeof(number));
    raw.append(bytes, sizeof(number));
  };
  if (tensor.whole) {
    proto.set_data_type(onnx::TensorProto::INT64);
    for (const double value : tensor.values) append(static_cast<std::int64_t>(value));
  } else if (tensor.wide) {
    proto.set_data_type(onnx::TensorProto::DOUBLE);
    for (const double value : tensor.values) append(value);
  } else {
    proto.set_data_type(onnx::TensorProto::FLOAT);
    for (const double value : tensor.values) append(static_cast<float>(value));
  }
  proto.set_raw_data(std::move(raw));
}

void write_attribute(const Attribute& attribute, onnx::AttributeProto& proto) {
  proto.set_name(attribute.name);
  switch (attribute.kind) {
    case AttributeKind::kInt:
      proto.set_type(onnx::AttributeProto::INT);
      proto.set_i(attribute.integer);
      break;
    case AttributeKind::kFloat:
      proto.set_type(onnx::AttributeProto::FLOAT);
      proto.set_f(static_cast<float>(attribute.number));
      break;
    case AttributeKind::kInts:
      proto.set_type(onnx::AttributeProto::INTS);
      for (const std::int64_t each : attribute.integers) proto.add_ints(each);
      break;
    case AttributeKind::kTexts:
      proto.set_type(onnx::AttributeProto::STRINGS);
      for (const std::string& each : attribute.texts) proto.add_strings(each);
      break;
    default:  // the writer makes no others
      break;
  }
}

void write_port(const Port& port, onnx::ValueInfoProto& proto) {
  proto.set_name(port.name);
  auto& type = *proto.mutable_type()->mutable_tensor_type();
  type.set_elem_type(port.type == PortType::kText     ? onnx::TensorProto::STRING
                     : port.type == PortType::kDouble ? onnx::TensorProto::DOUBLE
                                                      : onnx::TensorProto::FLOAT);
  for (const std::int64_t extent : port.dims) {
    auto& dim = *type.mutable_shape()->add_dim();
    if (extent == kFree)
      dim.set_dim_param("batch");
    else
      dim.set_dim_value(extent);
  }
}

}  // namespace

std::int64_t bounded_product(const std::vector<std::int64_t>& dims, std::int64_t most) {
  std::int64_t product = 1;
  for (const std::int64_t extent : dims) {
    if (extent < 0) return -1;
    if (extent > 0 && product > most / extent) return -1;
    product *= extent;
  }
  return product;
}

std::string shown(std::string_view name) {
  std::string text(name.substr(0, 60));
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

Expected<Graph> parse(std::string_view bytes) {
  onnx::ModelProto model;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return bad("it is larger than 2 GB, the limit of an ONNX file.");
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !model.has_graph())
    return bad("it is not a complete ONNX file: cut short, or of another kind. Export it again.");
  Graph graph;
  for (const auto& each : model.metadata_props()) graph.metadata[each.key()] = each.value();
  if (graph.metadata.contains(kColumnsKey))
    return bad(
        "it was exported with the encoding of its schema's columns inside, for other programs to "
        "run, and is no network to train. Take the model file that `train` wrote, or export it "
        "with ‘raw’.");
  graph.opset = 0;
  for (const auto& each : model.opset_import())
    if (each.domain().empty() || each.domain() == "ai.onnx") graph.opset = each.version();
  const onnx::GraphProto& proto = model.graph();
  if (proto.sparse_initializer_size() > 0)
    return bad("it has sparse constants. Export the network with dense weights.");
  if (proto.node_size() > kMostNodes)
    return bad(fmt::format("it has more than {} nodes.", kMostNodes));
  for (const auto& each : proto.initializer()) {
    SOTTO_ASSIGN(TensorPtr tensor, read_tensor(each));
    graph.constants[each.name()] = std::move(tensor);
  }
  for (const auto& each : proto.input())
    // Old files list their constants among the inputs.
    if (!graph.constants.contains(each.name())) graph.inputs.push_back(read_port(each));
  for (const auto& each : proto.output()) graph.outputs.push_back(read_port(each));
  for (const auto& each : proto.node()) {
    SOTTO_ASSIGN(Node node, read_node(each));
    graph.nodes.push_back(std::move(node));
  }
  graph.description = model.doc_string();
  return graph;
}

std::string serialize(const Graph& graph) {
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("sotto");
  model.set_producer_version(kVersion);
  model.set_doc_string(graph.description);
  auto& opset = *model.add_opset_import();
  opset.set_domain("");
  opset.set_version(graph.opset);
  constexpr std::string_view kClassic = "ai.onnx.ml::";
  if (std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
        return node.op.starts_with(kClassic);
      })) {
    auto& classic = *model.add_opset_import();
    classic.set_domain("ai.onnx.ml");
    classic.set_version(kClassicVersion);
  }
  for (const auto& [key, value] : graph.metadata) {
    auto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  onnx::GraphProto& proto = *model.mutable_graph();
  proto.set_name("network");
  for (const auto& port : graph.inputs) write_port(port, *proto.add_input());
  for (const auto& port : graph.outputs) write_port(port, *proto.add_output());
  for (const auto& [name, tensor] : graph.constants)
    write_tensor(name, *tensor, *proto.add_initializer());
  for (const auto& node : graph.nodes) {
    auto& out = *proto.add_node();
    const bool classic = node.op.starts_with(kClassic);
    if (classic) out.set_domain("ai.onnx.ml");
    out.set_op_type(classic ? node.op.substr(kClassic.size()) : node.op);
    out.set_name(node.name);
    for (const auto& each : node.inputs) out.add_input(each);
    for (const auto& each : node.outputs) out.add_output(each);
    for (const auto& each : node.attributes) write_attribute(each, *out.add_attribute());
  }
  return model.SerializeAsString();
}

}  // namespace sotto::onnx_file
