// Constants, and what changes the shape of values only.

#include <algorithm>

#include "sotto/model/onnx/reader.hpp"

namespace sotto::onnx_file {
namespace {

/// Constants that change their extents only.
Expected<Value> with_dims(const Tensor& tensor, std::vector<std::int64_t> dims) {
  if (bounded_product(dims, kMostFeatures) != std::ssize(tensor.values))
    return refuse("the new extents of a constant don't fit its size.");
  auto changed = std::make_shared<Tensor>(tensor);
  changed->dims = std::move(dims);
  Value value;
  value.tensor = std::move(changed);
  return value;
}

}  // namespace

std::vector<double> transposed(const std::vector<double>& values,
                               std::size_t rows,
                               std::size_t columns) {
  std::vector<double> result(values.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) result[c * rows + r] = values[r * columns + c];
  return result;
}

Expected<Value> Reader::constant(const Node& node) {
  Value value;
  for (const auto& attribute : node.attributes) {
    Tensor tensor;
    if (attribute.name == "value" && attribute.kind == AttributeKind::kTensor) {
      value.tensor = attribute.tensor;
      return value;
    }
    if (attribute.name == "value_float" && attribute.kind == AttributeKind::kFloat)
      tensor.values = {attribute.number};
    else if (attribute.name == "value_int" && attribute.kind == AttributeKind::kInt)
      tensor.values = {static_cast<double>(attribute.integer)};
    else if (attribute.name == "value_floats" && attribute.kind == AttributeKind::kFloats)
      tensor.values = attribute.numbers;
    else if (attribute.name == "value_ints" && attribute.kind == AttributeKind::kInts)
      tensor.values.assign(attribute.integers.begin(), attribute.integers.end());
    else
      continue;
    if (attribute.name.ends_with('s')) tensor.dims = {std::ssize(tensor.values)};
    tensor.whole = attribute.name.starts_with("value_int");
    value.tensor = std::make_shared<Tensor>(std::move(tensor));
    return value;
  }
  return refuse("it has no value that is understood.");
}

Expected<Value> Reader::identity(const Node& node) { return input(node, 0); }

Expected<Value> Reader::shape(const Node& node) {
  SOTTO_ASSIGN(const Value x, input(node, 0));
  if (x.role == Role::kConstant || x.role == Role::kExtents)
    return refuse("it is supported on the values of layers only.");
  Value value;
  value.role = Role::kExtents;
  value.extents.push_back({0, true});
  for (const std::int64_t extent : x.dims) value.extents.push_back({extent, false});
  return value;
}

Expected<Value> Reader::gather(const Node& node) {
  SOTTO_ASSIGN(const Value x, input(node, 0));
  SOTTO_ASSIGN(const TensorPtr indices, constant_input(node, 1));
  if (x.role != Role::kExtents || integer(node, "axis", 0) != 0)
    return refuse("it is supported on shapes only.");
  Value value;
  value.role = Role::kExtents;
  for (std::int64_t index : whole_values(*indices)) {
    if (index < 0) index += std::ssize(x.extents);
    if (index < 0 || index >= std::ssize(x.extents)) return refuse("its index is out of range.");
    value.extents.push_back(x.extents[static_cast<std::size_t>(index)]);
  }
  return value;
}

Expected<Value> Reader::concat(const Node& node) {
  Value value;
  value.role = Role::kExtents;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    SOTTO_ASSIGN(const Value part, input(node, i));
    if (part.role == Role::kExtents) {
      value.extents.insert(value.extents.end(), part.extents.begin(), part.extents.end());
    } else if (part.role == Role::kConstant && part.tensor->whole) {
      for (const std::int64_t each : whole_values(*part.tensor))
        value.extents.push_back({each, false});
    } else {
      return refuse("values are joined: the layers must form a chain, without branches.");
    }
    if (value.extents.size() > 100) return refuse("a shape of more than 100 extents.");
  }
  return value;
}

Expected<Value> Reader::transpose(const Node& node) {
  SOTTO_ASSIGN(const Value x, input(node, 0));
  if (x.role != Role::kConstant || x.tensor->dims.size() != 2 ||
      integers(node, "perm", {1, 0}) != std::vector<std::int64_t>{1, 0})
    return refuse("it is supported on constant matrices only.");
  const auto rows = static_cast<std::size_t>(x.tensor->dims[0]);
  const auto columns = static_cast<std::size_t>(x.tensor->dims[1]);
  auto turned = std::make_shared<Tensor>(*x.tensor);
  turned->dims = {x.tensor->dims[1], x.tensor->dims[0]};
  turned->values = transposed(x.tensor->values, rows, columns);
  Value value;
  value.tensor = std::move(turned);
  return value;
}

Expected<Value> Reader::change_rank(const Node& node) {
  SOTTO_ASSIGN(const Value x, input(node, 0));
  SOTTO_ASSIGN(std::vector<std::int64_t> axes, axes_of(node, 1));
  if (x.role == Role::kExtents) return x;
  const bool constant = x.role == Role::kConstant;
  if (!constant && x.role != Role::kActivation) return refuse("it is not supported here.");
  // With the batch in front, so that axes count as the file counts them.
  std::vector<std::int64_t> dims = constant ? x.tensor->dims : x.dims;
  if (!constant) dims.insert(dims.begin(), 1);
  const bool grows = node.op == "Unsqueeze";
  const auto rank = std::ssize(dims) + (grows ? std::ssize(axes) : 0);
  for (std::int64_t& axis : axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || axis > 10 || (!constant && axis == 0))
      return refuse("an axis is out of range.");
  }
  std::sort(axes.begin(), axes.end());
  if (axes.empty() || std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    return refuse("its axes must be given, each once.");
  if (grows) {
    for (const std::int64_t axis : axes) {
      if (axis > std::ssize(dims)) return refuse("an axis is out of range.");
      dims.insert(dims.begin() + axis, 1);
    }
  } else {
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      if (dims[static_cast<std::size_t>(*axis)] != 1)
        return refuse("it removes a dimension that is not 1.");
      dims.erase(dims.begin() + *axis);
    }
  }
  if (constant) return with_dims(*x.tensor, std::move(dims));
  dims.erase(dims.begin());
  return reshaped(x, std::move(dims));
}

Expected<Value> Reader::reshape(const Node& node) {
  SOTTO_ASSIGN(const Value x, input(node, 0));
  SOTTO_ASSIGN(const Value target, input(node, 1));
  if (x.role == Role::kConstant) {
    if (target.role != Role::kConstant) return refuse("its shape must be a constant.");
    return with_dims(*x.tensor, whole_values(*target.tensor));
  }
  if (x.role != Role::kActivation) return refuse("it is not supported here.");
  std::vector<Extent> extents = target.extents;
  if (target.role == Role::kConstant)
    for (const std::int64_t each : whole_values(*target.tensor)) extents.push_back({each, false});
  else if (target.role != Role::kExtents)
    return refuse("its shape is not known before the network runs.");
  if (extents.empty() || extents.size() > 10) return refuse("its shape has no or many extents.");
  const bool zero_copies = integer(node, "allowzero", 0) == 0;
  const Extent first = extents[0];
  const bool keeps_batch = first.batch || first.value == -1 || (first.value == 0 && zero_copies) ||
                           (batch_ != kFree && first.value == batch_);
  if (!keeps_batch)
    return refuse("the batch must stay the first dimension: examples would be mixed.");
  std::vector<std::int64_t> dims;
  std::ptrdiff_t open = -1;
  for (std::size_t i = 1; i < extents.size(); ++i) {
    std::int64_t extent = extents[i].value;
    if (extents[i].batch) return refuse("the batch must stay the first dimension.");
    if (extent == 0 && zero_copies && i <= x.dims.size()) extent = x.dims[i - 1];
    if (extent == -1 && open < 0 && (first.batch || first.value != -1)) {
      open = std::ssize(dims);
      extent = 1;
    }
    if (extent < 1 || extent > kMostFeatures) return refuse("its shape is not valid.");
    dims.push_back(extent);
  }
  const std::int64_t features = bounded_product(x.dims, kMostFeatures);
  const std::int64_t given = bounded_product(dims, kMostFeatures);
  if (open >= 0 && given > 0 && features % given == 0)
    dims[static_cast<std::size_t>(open)] = features / given;
  return reshaped(x, std::move(dims));
}

Expected<Value> Reader::flatten(const Node& node) {
  SOTTO_ASSIGN(const Value x, input(node, 0));
  if (x.role != Role::kActivation) return refuse("its input is not the output of a layer.");
  std::int64_t axis = integer(node, "axis", 1);
  if (axis < 0) axis += std::ssize(x.dims) + 1;
  if (axis != 1) return refuse("its axis must be 1: the batch stays, the rest becomes a list.");
  return reshaped(x, {bounded_product(x.dims, kMostFeatures)});
}

Expected<Value> Reader::pad(const Node& node) {
  SOTTO_ASSIGN(const TensorPtr pads, constant_input(node, 1));
  for (const double value : pads->values)
    if (value != 0) return refuse("padding is supported inside a convolution only.");
  return input(node, 0);
}

Expected<Value> Reader::cast(const Node& node) {
  SOTTO_ASSIGN(Value x, input(node, 0));
  constexpr std::int64_t kFloat = 1, kInt32 = 6, kInt64 = 7, kDouble = 11;  // ONNX's numbers
  const std::int64_t to = integer(node, "to", 0);
  const bool whole = to == kInt32 || to == kInt64;
  const bool real = to == kFloat || to == kDouble;
  const bool is_whole = x.role == Role::kExtents || (x.role == Role::kConstant && x.tensor->whole);
  if (is_whole ? !whole : !real) return refuse("this change of type is not supported.");
  return x;
}

}  // namespace sotto::onnx_file
