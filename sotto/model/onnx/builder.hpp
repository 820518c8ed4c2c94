#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sotto/model/onnx/graph.hpp"

// Graphs node by node; private to this folder.

namespace sotto::onnx_file {

Attribute integer(const char* name, std::int64_t value);
Attribute number(const char* name, double value);
Attribute integers(const char* name, std::vector<std::int64_t> values);
Attribute texts(const char* name, std::vector<std::string> values);

/// What the number types of ONNX are called in a Cast.
enum class CastTo { kSingle = 1, kInt64 = 7, kDouble = 11 };

class GraphBuilder {
 public:
  using Dims = std::vector<std::int64_t>;

  /// `wide`: constants are float64. All names that it makes begin with `prefix`.
  explicit GraphBuilder(bool wide = false, std::string prefix = "")
      : wide_(wide), prefix_(std::move(prefix)) {}

  /// A node with one output, whose name it returns: from now on the last value.
  std::string put(const std::string& op,
                  std::vector<std::string> inputs,
                  std::vector<Attribute> attributes = {});
  std::string cast(const std::string& value, CastTo type) {
    return put("Cast", {value}, {integer("to", static_cast<std::int64_t>(type))});
  }
  std::string constant(const std::string& name, Dims dims, std::vector<double> values);
  std::string whole_constant(const std::string& name, Dims dims, std::vector<double> values);
  std::string text_constant(const std::string& name, std::vector<std::string> values);

  void add_input(Port port);
  /// The last node's output, by this name.
  void name_output(const std::string& name, Dims dims, PortType type);

  const std::string& last() const { return last_; }
  void set_last(std::string value) { last_ = std::move(value); }
  void set_wide(bool wide) { wide_ = wide; }
  bool is_empty() const { return graph_.nodes.empty(); }
  Graph finish() && { return std::move(graph_); }

 private:
  std::string add_constant(const std::string& name, Tensor tensor);

  Graph graph_;
  bool wide_;
  std::string prefix_;
  std::string last_;
};

}  // namespace sotto::onnx_file
