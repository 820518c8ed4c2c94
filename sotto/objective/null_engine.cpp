#include "sotto/objective/null_engine.hpp"

#include <algorithm>

namespace sotto {

NullEngine::NullEngine(std::int64_t units, std::int64_t parameters)
    : nulls_(static_cast<std::size_t>(units), 1), parameters_(parameters) {}

std::unique_ptr<Engine::Workspace> NullEngine::make_workspace() const {
  return std::make_unique<Workspace>();
}

void NullEngine::evaluate_gradients(const Block&,
                                    std::span<const double>,
                                    Workspace&,
                                    std::span<double> norms) const {
  std::fill(norms.begin(), norms.end(), 0.0);
}

void NullEngine::pair_norms(Workspace&, double, double, std::span<double> norms) const {
  std::fill(norms.begin(), norms.end(), 0.0);
}

void NullEngine::evaluate_losses(const Block&,
                                 std::span<const double>,
                                 Workspace&,
                                 std::span<double> losses) const {
  std::fill(losses.begin(), losses.end(), 0.0);
}

}  // namespace sotto
