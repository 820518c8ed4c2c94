// Trains a private logistic regression on made-up census records, as a program would.

#include <cstdio>

#include "sotto/data/synthetic.hpp"
#include "sotto/model/metrics.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/training/train.hpp"

int main() {
  using namespace sotto;

  // Private rows. In earnest: load_table(...) from sotto/data/load.hpp.
  const CensusData train_set = make_census(20'000, /*seed=*/1, /*part=*/0);
  const CensusData test_set = make_census(10'000, /*seed=*/1, /*part=*/1);

  // What is public about the problem.
  const LossSpec loss{LossKind::kLogistic};
  PublicProblem problem;
  // Under zero-out neighbours have as many units, so that their number is public.
  problem.n = counted_as_public(train_set.data.table.units(), problem.relation).value();
  problem.dimension = train_set.data.table.dim();
  problem.row_norm = train_set.data.row_norm_bound;
  problem.loss = loss_info(loss);
  problem.relation = Relation::kZeroOut;

  TrainOptions options;
  options.method = "dp-gd";
  options.epsilon = 1;
  options.delta = 1e-6;

  // Plan and calibrate: no row has been read yet.
  auto prepared = prepare(problem, options);
  if (!prepared) {
    std::fprintf(stderr, "%s\n", prepared.error().message.c_str());
    return 1;
  }
  std::printf("the plan costs epsilon %.4f\n", prepared->epsilon_planned);

  // Run: the oracle answers, the ledger charges.
  const GlmEngine engine(train_set.data.table, loss);
  NoObserver nobody;
  const auto result = train(engine, problem, options, *std::move(prepared), nobody);
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    return 1;
  }
  const Metrics metrics = evaluate(test_set.data.table, result->w, loss, 0);
  std::printf("%s\n", brief(result->record).c_str());
  std::printf("test accuracy above 80 %%: %s\n", metrics.accuracy > 0.8 ? "yes" : "no");
  return metrics.accuracy > 0.8 ? 0 : 1;
}

// Expected output:
//   the plan costs epsilon 1.0000
//   dp-gd: 400 steps, epsilon 1 of 1 (delta 1e-06, zero-out, gaussian), stopped: plan complete
//   test accuracy above 80 %: yes
