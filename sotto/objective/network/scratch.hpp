#pragma once

// One thread's memory of the network engine; private to it.

#include <vector>

#include "sotto/objective/network/engine.hpp"
#include "sotto/objective/network/layer.hpp"

namespace sotto {

// Examples that go through the linear layers together: enough to use each weight several times
// while it is in a register or in the cache.
constexpr std::int64_t kChunk = 8;

/// A parameter vector, packed for the kernels.
struct NetworkEngine::Point {
  std::vector<double> w;  ///< what is packed; empty: nothing yet
  std::vector<network::Packed> packed;
};

/// A block's per-example gradients, one entry a trained layer.
struct NetworkEngine::Storage {
  struct Slot {
    network::Buffer dense;
    network::Buffer left, right;
  };
  std::vector<Slot> slots;
};

struct NetworkEngine::Scratch final : Engine::Workspace {
  // A chunk's passes.
  std::vector<network::Buffer> values;  ///< before the first layer and after each
  std::vector<network::Buffer> slopes;
  std::vector<network::Tensor> value_of, slope_of;
  std::vector<network::Memory> memory;
  std::vector<const float*> inputs;  ///< by place, if the first layer reads rows
  network::Buffer loaded;            ///< where they lie, if not in the table

  // The block last evaluated.
  Point points[2];
  Storage storage[2];
  std::int64_t count = 0;
  std::vector<Member>
      members;  ///< one per unit; empty: units are rows, at the place of their number
  std::vector<std::int64_t> single_rows;
  std::vector<double> sums[2];  ///< of units with several rows: gradients, and differences
  std::vector<std::int64_t> chunk_rows, chunk_units;  ///< rows on their way, and whose they are
  bool pairs = false;  ///< storage[1] holds differences of dense gradients and of linear layers'
                       ///< inputs, and the earlier point's slopes

  // Sums. A term is a weight, and one for the difference, of the example at a place.
  struct Term {
    std::int64_t place;
    double weight;
    double difference;
  };
  std::vector<Term> terms;
  std::vector<const float*> rows, more_rows;
  std::vector<double> weights, more_weights;
  std::vector<double> left, more_left;  ///< weighted slopes
  network::Buffer zeros;
  std::vector<double> total;
};

}  // namespace sotto
