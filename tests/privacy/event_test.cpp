#include "sotto/privacy/event.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "sotto/core/numbers.hpp"
#include "sotto/privacy/event_json.hpp"
#include "sotto/privacy/sampling.hpp"

namespace sotto {
namespace {

using testing::HasSubstr;

constexpr Relation kZeroed = Relation::kZeroOut;

Event parse(std::string_view text, Relation relation = kZeroed) {
  auto event = parse_event(text, relation);
  EXPECT_TRUE(event.has_value()) << text << ": " << event.error().message;
  return *event;
}

std::string form(const Event& event) {
  const auto result = canonical(event);
  return result ? to_string(to_event(*result)) : "error: " + result.error().message;
}
std::string form(std::string_view text) { return form(parse(text)); }

std::string parse_error(std::string_view text) {
  const auto event = parse_event(text, kZeroed);
  EXPECT_FALSE(event.has_value()) << text;
  if (event) return {};
  EXPECT_EQ(event.error().kind, ErrorKind::kUsage);
  return event.error().message;
}

// A random tree; `depth` bounds it. Leaves use few parameters so that terms meet.
class RandomEvents {
 public:
  explicit RandomEvents(unsigned seed) : random_(seed) {}

  double number() { return std::exp(std::normal_distribution<double>(0, 3)(random_)); }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  Event tree(int depth) {
    switch (below(depth > 0 ? 9 : 5)) {
      case 0:
        return Event::gaussian(number(), kZeroed);
      case 1:
        return Event::laplace(number(), kZeroed);
      case 2:
        return Event::exponential(number(), kZeroed);
      case 3:
        return Event::sparse_vector(number(), kZeroed);
      case 4:
        return below(2) ? Event::non_private(kZeroed) : Event::gaussian(kInfinity, kZeroed);
      case 5:
        return Event::poisson(1 / (1 + number()), tree(depth - 1));
      case 6:
        return Event::fixed_size(below(50), 50 + below(1000), tree(depth - 1));
      case 7:
        return Event::repeat(below(100000), tree(depth - 1));
      default: {
        std::vector<Event> parts;
        for (int i = below(4); i > 0; --i) parts.push_back(tree(depth - 1));
        return Event::compose(std::move(parts));
      }
    }
  }

 private:
  std::mt19937 random_;
};

TEST(EventText, PrintsWhatItParsed) {
  const std::string text =
      "compose(repeat(1000, poisson(0.01, gaussian(1.1))), fixed_size(256, 60000, gaussian(2)), "
      "laplace(3), exponential(0.1), sparse_vector(1e-05), non_private)";
  EXPECT_EQ(to_string(parse(text)), text);
  EXPECT_EQ(to_string(parse(" repeat ( 3 ,\tgaussian(\n1 ) ) ")), "repeat(3, gaussian(1))");
  EXPECT_EQ(to_string(parse("poisson(256/60000, gaussian(inf))")),
            "poisson(0.004266666666666667, gaussian(inf))");
  EXPECT_EQ(to_string(parse("repeat(1e6, compose())")), "repeat(1000000, compose())");
}

TEST(EventText, RoundTripsToTheLastBit) {
  RandomEvents random(1);
  for (int i = 0; i < 2000; ++i) {
    const Event event = random.tree(4);
    const std::string text = to_string(event);
    // Equal texts mean equal numbers, since they are printed shortest-exact.
    EXPECT_EQ(to_string(parse(text)), text);
    const double z = random.number();
    const Event leaf = parse(to_string(Event::gaussian(z, kZeroed)));
    EXPECT_EQ(std::get<GaussianEvent>(leaf.node()).noise_multiplier, z);
  }
}

TEST(EventText, ErrorsShowPositionAndExample) {
  EXPECT_THAT(parse_error("repeat(3 gaussian(1))"), HasSubstr("position 10: expected ','"));
  EXPECT_THAT(parse_error("repeat(3 gaussian(1))"), HasSubstr("An example: repeat(1000, "));
  EXPECT_THAT(parse_error(""), HasSubstr("position 1: expected an event"));
  EXPECT_THAT(parse_error("gauss(1)"), HasSubstr("but found 'gauss(1)'"));
  EXPECT_THAT(parse_error("gaussian(1"), HasSubstr("expected ')', but found the end"));
  EXPECT_THAT(parse_error("gaussian(x)"), HasSubstr("position 10: expected a number"));
  EXPECT_THAT(parse_error("gaussian(nan)"), HasSubstr("expected a number"));
  EXPECT_THAT(parse_error("gaussian(1e999)"), HasSubstr("too large or too small"));
  EXPECT_THAT(parse_error("gaussian(1) x"), HasSubstr("expected the end"));
  EXPECT_THAT(parse_error("repeat(1.5, gaussian(1))"), HasSubstr("whole number"));
  EXPECT_THAT(parse_error("repeat(1e16, gaussian(1))"), HasSubstr("whole number"));
  EXPECT_THAT(parse_error("poisson(1/0, gaussian(1))"), HasSubstr("positive number after '/'"));
  for (const char* lost : {"poisson(1e-200/1e200, gaussian(1))",
                           "gaussian(1e200/1e-200)",
                           "gaussian(1/inf)",
                           "laplace(5e-324/3)"})
    EXPECT_THAT(parse_error(lost), HasSubstr("too large or too small")) << lost;
  EXPECT_TRUE(parse_event("poisson(0/3, gaussian(1))", Relation::kZeroOut));
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "repeat(1,";
  EXPECT_THAT(parse_error(deep), HasSubstr("100 deep"));
}

TEST(EventCheck, NamesTheOffendingPart) {
  EXPECT_THAT(parse_error("gaussian(-1)"), HasSubstr("noise multiplier of gaussian"));
  EXPECT_THAT(parse_error("exponential(-1)"), HasSubstr("epsilon of exponential"));
  EXPECT_THAT(parse_error("poisson(1.5, gaussian(1))"), HasSubstr("rate of poisson"));
  EXPECT_THAT(parse_error("fixed_size(5, 4, gaussian(1))"), HasSubstr("batch <= population"));
  EXPECT_THAT(parse_error("repeat(-1, gaussian(1))"), HasSubstr("count of repeat"));
  EXPECT_FALSE(Event::gaussian(std::nan(""), kZeroed).check());
  const auto mixed =
      Event::compose({Event::gaussian(1, kZeroed), Event::gaussian(1, Relation::kReplaceOne)})
          .check();
  ASSERT_FALSE(mixed);
  EXPECT_THAT(mixed.error().message, HasSubstr("mixes the neighbouring relations zero-out and"));
}

TEST(EventJson, RoundTrips) {
  RandomEvents random(2);
  for (int i = 0; i < 1000; ++i) {
    const Event event = random.tree(4);
    const auto back = event_from_json(nlohmann::json::parse(to_json(event).dump()));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(to_string(*back), to_string(event));
    EXPECT_EQ(to_json(*back), to_json(event));
  }
}

TEST(EventJson, KeepsTheRelation) {
  const auto json = to_json(Event::gaussian(1.5, Relation::kReplaceOne));
  EXPECT_EQ(json["neighbours"], "replace-one");
  EXPECT_EQ(std::get<GaussianEvent>(event_from_json(json)->node()).relation, Relation::kReplaceOne);
}

TEST(EventJson, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"3",
                           "{}",
                           R"({"kind":"nothing"})",
                           R"({"kind":"gaussian","noise_multiplier":1})",
                           R"({"kind":"gaussian","noise_multiplier":"x","neighbours":"zero-out"})",
                           R"({"kind":"gaussian","noise_multiplier":-1,"neighbours":"zero-out"})",
                           R"({"kind":"repeat","count":1})",
                           R"({"kind":"repeat","count":1.5,"inner":{}})",
                           R"({"kind":"compose"})"}) {
    EXPECT_FALSE(event_from_json(nlohmann::json::parse(text))) << text;
  }
}

TEST(Canonical, FlattensMergesAndOrders) {
  EXPECT_EQ(form("repeat(2, repeat(3, gaussian(1)))"), "repeat(6, gaussian(1))");
  EXPECT_EQ(form("compose(laplace(1), gaussian(2), gaussian(1), gaussian(2))"),
            form("compose(gaussian(1), repeat(2, gaussian(2)), laplace(1))"));
  EXPECT_EQ(form("compose(gaussian(1), compose(gaussian(2)))"),
            "compose(gaussian(1), gaussian(2))");
}

TEST(Canonical, KnowsTheTrivialCases) {
  EXPECT_EQ(form("poisson(1, gaussian(1))"), "gaussian(1)");
  EXPECT_EQ(form("fixed_size(7, 7, gaussian(1))"), "gaussian(1)");
  for (const char* nothing : {"poisson(0, gaussian(1))",
                              "fixed_size(0, 7, gaussian(1))",
                              "repeat(0, gaussian(1))",
                              "gaussian(inf)",
                              "laplace(inf)",
                              "exponential(0)",
                              "sparse_vector(0)",
                              "poisson(0.5, compose())"}) {
    EXPECT_EQ(form(nothing), "compose()") << nothing;
  }
  for (const char* everything : {"gaussian(0)",
                                 "laplace(0)",
                                 "exponential(inf)",
                                 "poisson(0.5, non_private)",
                                 "poisson(0.5, compose(laplace(1), gaussian(0)))"}) {
    EXPECT_EQ(form(everything), "non_private") << everything;
  }
  // Under add-remove the population is private.
  EXPECT_EQ(form(parse("fixed_size(7, 7, gaussian(1))", Relation::kAddRemove)),
            "fixed_size(7, 7, gaussian(1))");
}

TEST(Canonical, MergesGaussiansOnOneBatch) {
  EXPECT_EQ(form("poisson(0.1, repeat(4, gaussian(2)))"), "poisson(0.1, gaussian(1))");
  EXPECT_EQ(form("fixed_size(1, 9, compose(gaussian(2), repeat(3, gaussian(2))))"),
            "fixed_size(1, 9, gaussian(1))");
  EXPECT_EQ(form("poisson(0.5, poisson(0.5, gaussian(1)))"), "poisson(0.25, gaussian(1))");
  EXPECT_EQ(form("poisson(0.5, laplace(1))"), "poisson(0.5, laplace(1))");
}

TEST(Canonical, RefusesByName) {
  EXPECT_THAT(form("poisson(0.5, compose(gaussian(1), laplace(2)))"),
              HasSubstr("poisson of several releases (gaussian(1), laplace(2))"));
  EXPECT_THAT(form("poisson(0.5, repeat(2, poisson(0.5, gaussian(1))))"),
              HasSubstr("repeat(2, poisson(0.5, gaussian(1)))"));
  EXPECT_THAT(form("poisson(0.5, fixed_size(1, 9, gaussian(1)))"), HasSubstr("Sample once"));
  EXPECT_THAT(form("fixed_size(1, 9, poisson(0.5, gaussian(1)))"), HasSubstr("Sample once"));
  EXPECT_THAT(form("repeat(1e8, repeat(1e8, gaussian(1)))"),
              HasSubstr("more than 1000000000000000"));
  EXPECT_THAT(form("compose(repeat(1e15, gaussian(1)), gaussian(1))"), HasSubstr("more than"));
}

TEST(Canonical, IsItsOwnCanonicalForm) {
  RandomEvents random(3);
  for (int i = 0; i < 2000; ++i) {
    const auto once = canonical(random.tree(4));
    if (!once) continue;
    const std::string text = to_string(to_event(*once));
    EXPECT_EQ(form(to_event(*once)), text);
  }
}

TEST(Relation, ParsesItsNames) {
  for (const Relation relation :
       {Relation::kZeroOut, Relation::kReplaceOne, Relation::kAddRemove}) {
    EXPECT_EQ(*parse_relation(to_string(relation)), relation);
  }
  EXPECT_THAT(parse_relation("swap").error().message, HasSubstr("zero-out"));
  EXPECT_EQ(sum_sensitivity(Relation::kReplaceOne, 1.5), 3);
  EXPECT_EQ(sum_sensitivity(Relation::kZeroOut, 1.5), 1.5);
  EXPECT_EQ(sum_sensitivity(Relation::kAddRemove, 1.5), 1.5);
}

TEST(Sampling, MakesItsEventAndItsName) {
  const Event inner = Event::gaussian(1, kZeroed);
  EXPECT_EQ(to_string(Sampling::full().applied_to(inner)), "gaussian(1)");
  EXPECT_EQ(to_string(Sampling::poisson(0.01).applied_to(inner)), "poisson(0.01, gaussian(1))");
  EXPECT_EQ(to_string(Sampling::fixed_size(2, 8).applied_to(inner)),
            "fixed_size(2, 8, gaussian(1))");
  EXPECT_EQ(to_string(Sampling::full()), "full");
  EXPECT_EQ(to_string(Sampling::poisson(0.01)), "poisson(0.01)");
  EXPECT_EQ(to_string(Sampling::fixed_size(256, 60000)), "fixed_size(256, 60000)");
}

}  // namespace
}  // namespace sotto
