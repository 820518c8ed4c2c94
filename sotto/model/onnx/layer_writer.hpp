#pragma once

#include <string>
#include <vector>

#include "sotto/model/onnx/builder.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto::onnx_file {

/// The layers of a network, one after the other, from the builder's last value on.
class LayerWriter {
 public:
  /// The value has the given shape; flat ones have no height and width in the file.
  LayerWriter(GraphBuilder& builder, const ImageShape& input)
      : builder_(builder), shape_(input), flat_(is_flat(input)) {}

  /// The extents of an input of this shape, its batch among them.
  static GraphBuilder::Dims input_dims(const ImageShape& input);

  /// (x - mean) / deviation by channel.
  void put_constants(const std::vector<double>& mean, const std::vector<double>& deviation);
  void put_layer(const LayerSpec& layer,
                 const ImageShape& out,
                 const double* w,
                 std::size_t number);
  /// Makes a list of what the last layer gave: how many numbers.
  std::int64_t finish();

 private:
  using Dims = GraphBuilder::Dims;
  static bool is_flat(const ImageShape& shape) { return shape.height == 1 && shape.width == 1; }
  static Dims dims_of(const ImageShape& shape, bool flat);
  const std::string& last() const { return builder_.last(); }

  void flatten();
  void to_shape(const std::string& name, Dims dims);
  /// Convolutions and pools need height and width in the file even if both are 1.
  void need_image(const std::string& prefix);
  std::vector<Attribute> window(const LayerSpec& layer) const;
  void put_gelu(const std::string& prefix);
  void put_groupnorm(const LayerSpec& layer, const std::string& prefix, const double* w);
  void put_layernorm(const std::string& prefix, const double* w);

  GraphBuilder& builder_;
  ImageShape shape_;
  bool flat_;  ///< the file's tensor is (batch, features)
};

}  // namespace sotto::onnx_file
