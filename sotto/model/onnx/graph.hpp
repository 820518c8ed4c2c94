#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"

// An ONNX graph in plain types; private to this folder.

namespace sotto::onnx_file {

/// A constant. Whole numbers and floats are both kept as doubles: 53 bits are more than any extent
/// or float32 needs.
struct Tensor {
  std::vector<std::int64_t> dims;  ///< not negative; their product is values.size()
  std::vector<double> values;
  bool whole = false;              ///< the file says int32 or int64
  bool wide = false;               ///< written as float64
  std::vector<std::string> texts;  ///< written instead of numbers, if there are any
};
using TensorPtr = std::shared_ptr<const Tensor>;

enum class AttributeKind { kOther, kInt, kFloat, kText, kInts, kFloats, kTexts, kTensor };

struct Attribute {
  std::string name;
  AttributeKind kind = AttributeKind::kOther;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  std::vector<std::string> texts;
  TensorPtr tensor;
};

struct Node {
  std::string op;  ///< "domain::Op" unless the domain is ONNX's own
  std::string name;
  std::vector<std::string> inputs;  ///< empty: left out
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;
};

constexpr std::int64_t kFree = -1;  ///< an extent that the file leaves open

enum class PortType { kSingle, kDouble, kText, kOther };

struct Port {
  std::string name;
  std::vector<std::int64_t> dims;
  PortType type = PortType::kSingle;
  bool is_float() const { return type == PortType::kSingle || type == PortType::kDouble; }
};

/// The key among a file's metadata of what its inputs are, where they are the columns of a schema.
inline constexpr const char* kColumnsKey = "sotto.columns";

struct Graph {
  std::int64_t opset = 13;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::map<std::string, TensorPtr> constants;
  std::vector<Node> nodes;
  std::map<std::string, std::string> metadata;
  std::string description;
};

/// The graph of a file; kBadData if it is no ONNX file, is cut short, keeps data outside of itself,
/// or has constants whose sizes do not agree.
Expected<Graph> parse(std::string_view bytes);

/// The file of a graph; whole constants become int64, texts strings, others float64 if they are
/// wide and float32 if not.
std::string serialize(const Graph& graph);

/// The product of extents; -1 if one is negative or the product exceeds `most`.
std::int64_t bounded_product(const std::vector<std::int64_t>& dims, std::int64_t most);

/// A name from a file, fit to be shown.
std::string shown(std::string_view name);

}  // namespace sotto::onnx_file
