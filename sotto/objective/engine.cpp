#include "sotto/objective/engine.hpp"

#include "sotto/core/check.hpp"

namespace sotto {

void Engine::evaluate_gradient_pairs(const Block&,
                                     std::span<const double>,
                                     std::span<const double>,
                                     Workspace&) const {
  SOTTO_CHECK(offers().has(Capability::kPairs) && "this engine has no gradient pairs");
}

void Engine::pair_norms(Workspace&, double, double, std::span<double>) const {
  SOTTO_CHECK(offers().has(Capability::kPairs) && "this engine has no gradient pairs");
}

void Engine::add_gradient_pairs(Workspace&,
                                std::span<const double>,
                                std::span<const double>,
                                std::span<double>) const {
  SOTTO_CHECK(offers().has(Capability::kPairs) && "this engine has no gradient pairs");
}

void Engine::layer_norms(Workspace&, std::span<double>) const {
  SOTTO_CHECK(layers() > 1 && "this engine has no layers");
}

void Engine::add_layer_gradients(Workspace&, std::span<const double>, std::span<double>) const {
  SOTTO_CHECK(layers() > 1 && "this engine has no layers");
}

void Engine::evaluate_predictions(const Block&,
                                  std::span<const double>,
                                  Workspace&,
                                  std::span<double>) const {
  SOTTO_CHECK(offers().has(Capability::kPredictions) && "this engine has no predictions");
}

void Engine::move_predictions(const Block&, double, std::int64_t, double, std::span<double>) const {
  SOTTO_CHECK(offers().has(Capability::kPredictions) && "this engine has no predictions");
}

void Engine::evaluate_max_norms(const Block&,
                                std::span<const double>,
                                Workspace&,
                                std::span<double>) const {
  SOTTO_CHECK(offers().has(Capability::kPredictions) && "this engine has no predictions");
}

void Engine::add_on_grid(
    Workspace&, std::span<const double>, double, std::int64_t, std::span<std::int64_t>) const {
  SOTTO_CHECK(offers().has(Capability::kPredictions) && "this engine has no predictions");
}

void Engine::evaluate_hessians(const Block&,
                               std::span<const double>,
                               Workspace&,
                               std::span<double>) const {
  SOTTO_CHECK(offers().has(Capability::kHessians) && "this engine has no Hessians");
}

void Engine::add_hessians(Workspace&, std::span<const double>, std::span<double>) const {
  SOTTO_CHECK(offers().has(Capability::kHessians) && "this engine has no Hessians");
}

void Engine::add_hessian_products(Workspace&,
                                  std::span<const double>,
                                  std::span<const double>,
                                  std::span<double>) const {
  SOTTO_CHECK(offers().has(Capability::kHessians) && "this engine has no Hessians");
}

void Engine::evaluate_gradients_and_hessians(
    const Block&, std::span<const double>, Workspace&, std::span<double>, std::span<double>) const {
  SOTTO_CHECK(offers().has(Capability::kHessians) && "this engine has no Hessians");
}

}  // namespace sotto
