#pragma once

#include "sotto/core/error.hpp"
#include "sotto/model/deploy/deployment.hpp"
#include "sotto/model/model.hpp"
#include "sotto/model/onnx/graph.hpp"

namespace sotto::onnx_file {

/// From the columns of the model's schema to its answer: see to_onnx().
Expected<Graph> columns_graph(const Model& model);
/// `deployment`: of this model, with an encoding.
Expected<Graph> columns_graph(const Model& model, const deploy::Deployment& deployment);

}  // namespace sotto::onnx_file
