// The published formulas against numbers that were computed from the papers by hand or by another
// program, and what they really cost.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "sotto/privacy/accountant.hpp"
#include "sotto/study/published/formula.hpp"

namespace sotto::study {
namespace {

NoiseFacts facts(double n, std::int64_t d, double epsilon, double delta, double steps) {
  NoiseFacts facts;
  facts.problem.n = static_cast<std::int64_t>(n);
  facts.problem.dimension = d;
  facts.problem.row_norm = 1;
  facts.problem.relation = Relation::kReplaceOne;
  facts.epsilon = epsilon;
  facts.delta = delta;
  facts.steps = steps;
  facts.batch = n;
  return facts;
}

double multiplier(const char* formula, const NoiseFacts& of) {
  const auto noise = published_noise(formula, of);
  EXPECT_TRUE(noise) << noise.error().message;
  return noise ? noise->multiplier.value_or(0) : 0;
}

double option(const PublishedNoise& noise, const std::string& name) {
  for (const auto& [each, value] : noise.options)
    if (each == name) return std::stod(value);
  return 0;
}

double price(const Event& event, double delta) {
  const auto plain = canonical(event);
  EXPECT_TRUE(plain);
  const auto accountant = tightest_accountant(*plain);
  EXPECT_TRUE(accountant);
  return (*accountant)->epsilon_upper(*plain, delta).value_or(-1);
}

TEST(PublishedNoise, ZcdpOfTheOldConversion) {
  EXPECT_NEAR(zcdp_of(0.1, 1e-3), 3.59e-4, 1e-6);
  EXPECT_NEAR(zcdp_of(0.5, 1e-3), 8.73e-3, 1e-5);
  EXPECT_NEAR(zcdp_of(2, 1e-3), 0.127, 5e-4);
  EXPECT_NEAR(zcdp_of(5, 1e-3), 0.677, 5e-4);
  // By its definition.
  const double rho = zcdp_of(1, 1e-5);
  EXPECT_NEAR(rho + 2 * std::sqrt(rho * std::log(1e5)), 1, 1e-12);
}

TEST(PublishedNoise, TheSquareThatShouldNotBeInflatesTheNoise) {
  const double ratios[] = {52.8, 10.7, 2.8, 1.22};
  const double epsilons[] = {0.1, 0.5, 2, 5};
  for (int k = 0; k < 4; ++k) {
    const NoiseFacts of = facts(10'000, 100, epsilons[k], 1e-3, 200);
    EXPECT_NEAR(
        multiplier("wx19-printed", of) / multiplier("wx19", of), ratios[k], 0.006 * ratios[k]);
  }
}

TEST(PublishedNoise, DpSrmOverNoisesSevenfold) {
  // sigma b / S = 14.1 where 3.96 would do; the multiplier is over 2S.
  NoiseFacts of = facts(32'561, 123, 0.2, 1e-5, 1303);
  of.batch = 100;
  EXPECT_NEAR(multiplier("wjeg23", of), 14.1 / 2, 0.03);
}

TEST(PublishedNoise, AdpMultipliersOfTheQuotedEpsilons) {
  const double wanted[] = {8.50, 5.66, 4.25, 2.12, 1.06};
  const double epsilons[] = {0.8, 1.2, 1.6, 3.2, 6.4};
  for (int k = 0; k < 5; ++k) {
    NoiseFacts of = facts(50'000, 1000, epsilons[k], 1e-5, 11'700);
    of.batch = 256;
    of.problem.relation = Relation::kZeroOut;  // quoted as noise over the clip radius
    EXPECT_NEAR(multiplier("adp21", of), wanted[k], 0.006);
  }
}

TEST(PublishedNoise, MatchedNoiseStartsLowerAndCostsTheSameByItsOwnBound) {
  NoiseFacts of = facts(50'000, 1000, 0.8, 1e-5, 11'700);
  of.batch = 256;
  const double constant = multiplier("adp21", of);
  of.arguments = {{"matched", 1}, {"offset", 20}, {"slope", 1}};
  const double first = multiplier("adp21", of);
  EXPECT_LT(first, constant);
  double sum = 0;  // of 1 / alpha_t^2
  for (int t = 0; t < 11'700; ++t) sum += std::sqrt(20.0 / (20 + t));
  EXPECT_NEAR(sum / (first * first), 11'700 / (constant * constant), 1e-6);
}

/// What matched noise costs that changes in every step, as it is printed: bounds from both sides by
/// schedules of 5 % stages with a little more and a little less noise.
Interval matched_as_printed(double epsilon) {
  NoiseFacts of = facts(50'000, 1000, epsilon, 1e-5, 11'700);
  of.batch = 256;
  of.problem.relation = Relation::kZeroOut;
  of.arguments = {{"matched", 1}, {"offset", 20}, {"slope", 1}};
  const double first = multiplier("adp21", of);
  std::map<int, std::int64_t> stages;
  for (int t = 1; t <= 11'700; ++t)
    ++stages[static_cast<int>(std::log(std::pow((20 + t) / 20.0, 0.25)) / std::log(1.05))];
  const auto bounds = [&](double factor) {
    std::vector<Event> parts;
    for (const auto& [stage, steps] : stages) {
      const double z = first * std::pow(1.05, stage) * factor;
      parts.push_back(Event::repeat(
          steps, Event::poisson(256 / 50'000.0, Event::gaussian(z, Relation::kZeroOut))));
    }
    const auto plain = canonical(Event::compose(std::move(parts)));
    const auto pld = find_accountant("pld");
    const auto certified = (*pld)->epsilon(*plain, 1e-5);
    EXPECT_TRUE(certified);
    return certified.value_or(Interval{});
  };
  return {bounds(1.05).lower, bounds(1).upper};
}

TEST(PublishedNoise, MatchedNoiseAsPrintedIsNotAtTheEpsilonOfConstantNoise) {
  // The paper quotes 0.29, 1.23 and 3.24 for 0.8, 3.2 and 6.4, by a moments accountant, without
  // saying for which of the two. Constant noise keeps below all three. An independent sum of Renyi
  // divergences at whole orders bounds matched noise by 0.246, 3.28 and 18.0.
  const double quoted[] = {0.29, 1.23, 3.24}, renyi[] = {0.246, 3.281, 18.04};
  const double epsilons[] = {0.8, 3.2, 6.4};
  for (int k = 0; k < 3; ++k) {
    NoiseFacts of = facts(50'000, 1000, epsilons[k], 1e-5, 11'700);
    of.batch = 256;
    of.problem.relation = Relation::kZeroOut;
    const Event constant =
        Event::repeat(11'700,
                      Event::poisson(256 / 50'000.0,
                                     Event::gaussian(multiplier("adp21", of), Relation::kZeroOut)));
    EXPECT_LT(price(constant, 1e-5), quoted[k]);
    const Interval matched = matched_as_printed(epsilons[k]);
    EXPECT_LE(matched.lower, renyi[k]) << epsilons[k];
    if (k == 0) {
      EXPECT_LT(matched.upper, quoted[k]);  // multipliers from 2.4 on: no harm yet
    } else {
      EXPECT_GT(matched.lower, quoted[k]) << epsilons[k];
    }
  }
}

TEST(PublishedNoise, SpectralNoiseOfTheHessiansDecidesWhichCellsFail) {
  // Predicted spectral norms at n = 495,141, d = 54, from which the printed crosses follow.
  const struct {
    double steps, epsilon, line_search, two_phases, wanted;
  } cells[] = {{421, 0.2, 0, 0, 0.325},
               {421, 0.6, 0, 0, 0.109},
               {421, 1.0, 0, 0, 0.066},
               {934, 0.2, 1, 0, 0.594},
               {1681, 0.2, 0, 0, 0.650},
               {3735, 0.2, 1, 0, 1.19},
               {421, 0.2, 0, 1, 0.65},
               {1681, 0.6, 0, 1, 0.436}};
  for (const auto& cell : cells) {
    NoiseFacts of = facts(495'141, 54, cell.epsilon, 1 / 495'141.0, cell.steps);
    of.arguments = {{"line_search", cell.line_search}, {"two_phases", cell.two_phases}};
    const auto noise = published_noise("gw23", of);
    ASSERT_TRUE(noise);
    // Noise like the Gaussian orthogonal ensemble: sigma sqrt(2d).
    const double reach = std::sqrt(2.0) / 4;
    const double spectral = option(*noise, "hessian_noise") * reach / 495'141 * std::sqrt(2 * 54.0);
    EXPECT_NEAR(spectral, cell.wanted, 0.006 * cell.wanted + 5e-4);
  }
}

TEST(PublishedNoise, TheSameAbsoluteNoiseOnFewerRows) {
  NoiseFacts of = facts(495'141, 54, 0.6, 1 / 495'141.0, 421);
  const auto at_home = published_noise("gw23", of);
  of.problem.n = 150'837;
  of.batch = 150'837;
  of.arguments = {{"n", 495'141}};
  const auto away = published_noise("gw23", of);
  ASSERT_TRUE(at_home && away);
  const double scale = 150'837.0 / 495'141;
  EXPECT_NEAR(option(*away, "gradient_noise"), option(*at_home, "gradient_noise") * scale, 1e-9);
  EXPECT_NEAR(option(*away, "hessian_noise"), option(*at_home, "hessian_noise") * scale, 1e-6);
  // Priced at the paper's n, both cost the same.
  EXPECT_NEAR(price(*away->releases, of.delta), price(*at_home->releases, of.delta), 1e-9);
}

TEST(PublishedNoise, ConstantsOfOneAreNotEnoughForTwoGradients) {
  const auto noise = published_noise("wcx19-code", facts(581'012, 54, 1, 1 / 581'012.0, 278));
  ASSERT_TRUE(noise);
  // 1.66 for two releases of full sensitivity; the Hessian, whose sensitivity the paper bounds
  // forty times too high, adds next to nothing.
  EXPECT_NEAR(price(*noise->releases, 1 / 581'012.0), 1.66, 0.015);
}

TEST(PublishedNoise, FullBatchFormulasAreConservative) {
  for (const double epsilon : {0.2, 1.0}) {
    for (const char* formula : {"wyx17", "wx19", "advanced", "moments-grid"}) {
      const NoiseFacts of = facts(10'000, 50, epsilon, 1e-5, 100);
      const double z = multiplier(formula, of);
      EXPECT_LT(price(Event::repeat(100, Event::gaussian(z, Relation::kReplaceOne)), 1e-5), epsilon)
          << formula;
    }
    const auto search = published_noise("gw23", facts(10'000, 50, epsilon, 1e-5, 100));
    ASSERT_TRUE(search);
    EXPECT_LT(price(*search->releases, 1e-5), epsilon);
  }
}

TEST(PublishedNoise, NoiseForTheMeanOverAllRowsOnABatchIsNotPrivateAtTheStatedEpsilon) {
  NoiseFacts of = facts(495'141, 54, 0.2, 1 / 495'141.0, 421);
  of.batch = 495'141 / 50;
  const auto noise = published_noise("gw23-batches", of);
  ASSERT_TRUE(noise);
  EXPECT_NEAR(option(*noise, "gradient_noise"), 0.41, 0.005);
  EXPECT_GT(price(*noise->releases, 1 / 495'141.0), 20 * 0.2);
}

TEST(PublishedNoise, ArgminWithNoiseInTheWrongDirectionCostsMoreThanTheBudget) {
  const auto noise = published_noise("lk18-code", facts(32'561, 123, 0.2, 1e-5, 60));
  ASSERT_TRUE(noise);
  EXPECT_FALSE(noise->multiplier);
  EXPECT_FALSE(noise->is_run);  // Sotto's run chooses rightly
  EXPECT_GT(price(*noise->releases, 1e-5), 4 * 0.2);
}

TEST(PublishedNoise, UnknownNamesAndMissingFactsAreErrors) {
  EXPECT_FALSE(published_noise("nobody99", facts(100, 2, 1, 1e-3, 10)));
  EXPECT_FALSE(published_noise("wyx17", facts(100, 2, 0, 1e-3, 10)));
}

TEST(PublishedNoise, EveryFormulaHasASourceInTheBibliography) {
  std::ostringstream text;
  text << std::ifstream(std::string(SOTTO_SOURCE_DIR) + "/docs/background/bibliography.md").rdbuf();
  for (const auto& formula : published_formulas()) {
    const std::string key = formula.source.substr(0, formula.source.find(']') + 1);
    EXPECT_NE(text.str().find("**" + key + "**"), std::string::npos) << formula.name;
  }
}

}  // namespace
}  // namespace sotto::study
