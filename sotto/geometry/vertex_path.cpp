#include "sotto/geometry/vertex_path.hpp"

#include <cmath>
#include <utility>

#include "sotto/core/check.hpp"

namespace sotto {

void VertexPath::move(double step, const Vertex& vertex) {
  SOTTO_CHECK(step > 0 && step <= 1);
  SOTTO_CHECK(vertex.coordinate >= 0 && vertex.coordinate < dimension_);
  moves_.push_back({step, vertex});
  scale_ *= 1 - step;
  // A full step forgets everything; a tiny scale would make the values before it overflow.
  if (scale_ < 1e-100) {
    for (double& v : values_) v *= scale_;
    scale_ = 1;
  }
  const auto [slot, fresh] = slots_.try_emplace(vertex.coordinate, support_.size());
  if (fresh) {
    support_.push_back(vertex.coordinate);
    values_.push_back(0);
  }
  values_[slot->second] += step * vertex.value / scale_;
}

double VertexPath::l1_norm() const {
  double sum = 0;
  for (const double v : values_) sum += std::fabs(v);
  return scale_ * sum;
}

Vector VertexPath::dense() const {
  Vector w = Vector::Zero(dimension_);
  for (std::size_t k = 0; k < support_.size(); ++k) w[support_[k]] = value(k);
  return w;
}

void VertexPath::archive(Archive& state) {
  constexpr std::size_t kNumbers = 3;
  constexpr std::size_t kMostMoves = std::size_t{1} << 27;
  std::vector<double> numbers;
  for (const auto& [step, vertex] : moves_)
    numbers.insert(numbers.end(), {step, static_cast<double>(vertex.coordinate), vertex.value});
  state("moves", numbers, kNumbers * kMostMoves);
  if (!state.loading()) return;
  VertexPath path(dimension_);
  for (std::size_t k = 0; k + kNumbers <= numbers.size(); k += kNumbers) {
    const double step = numbers[k], coordinate = numbers[k + 1];
    if (!(step > 0 && step <= 1) ||
        !(coordinate >= 0 && coordinate < static_cast<double>(dimension_)))
      return state.refuse("a move leads to no vertex");
    path.move(step, {static_cast<std::int64_t>(coordinate), numbers[k + 2]});
  }
  *this = std::move(path);
}

}  // namespace sotto
