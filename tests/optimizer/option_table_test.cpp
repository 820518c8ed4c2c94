// Options: what is read, what is refused and in which words.

#include "sotto/optimizer/option_table.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "sotto/optimizer/registry.hpp"

namespace sotto {
namespace {

enum class Colour { kRed, kBlue };

struct Base {
  double share = 0.5;
};
struct Options : Base {
  std::optional<std::int64_t> steps;
  std::int64_t period = 0;
  std::optional<double> size;
  double momentum = 0;
  double slope = 1;
  double passes = 8;
  Colour colour = Colour::kBlue;
  bool on = true;
};

OptionTable<Options> table() {
  using O = Options;
  OptionTable<O> table;
  table.integer("steps", &O::steps, "T")
      .range(1, 100'000'000)
      .integer("period", &O::period, "p")
      .at_least(0)
      .number("size", &O::size, "s")
      .positive()
      .number("momentum", &O::momentum, "m")
      .range(0, below(1))
      .number("share", &O::share, "of a base")
      .range(above(0), below(1))
      .number("slope", &O::slope, "c")
      .range(above(0), 10)
      .number("passes", &O::passes, "at least so many")
      .at_least(8)
      .choice("colour", &O::colour, {{Colour::kRed, "red"}, {Colour::kBlue, "blue"}}, "which")
      .choice("switch", &O::on, {{true, "on"}, {false, "off"}}, "whether");
  return table;
}

std::string refusal(const std::string& name, const std::string& text) {
  const auto options = table().parse({{name, text}});
  EXPECT_FALSE(options) << name << " " << text;
  return options ? "" : options.error().message;
}

TEST(OptionTable, ReadsWhatLiesWithin) {
  const auto options = table().parse({{"steps", "100000000"},
                                      {"momentum", "0"},
                                      {"share", "0.25"},
                                      {"slope", "10"},
                                      {"passes", "inf"},
                                      {"colour", "red"},
                                      {"switch", "off"}});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->steps, 100'000'000);
  EXPECT_EQ(options->momentum, 0);
  EXPECT_EQ(options->share, 0.25);
  EXPECT_EQ(options->slope, 10);
  EXPECT_EQ(options->colour, Colour::kRed);
  EXPECT_FALSE(options->on);
  EXPECT_FALSE(options->size) << "open";
}

TEST(OptionTable, RefusesTheRestInOneKindOfWords) {
  EXPECT_EQ(refusal("steps", "0"), "‘steps’ must lie between 1 and 100,000,000, but is 0.");
  EXPECT_EQ(refusal("steps", "1.5"), "‘steps’ must be a whole number, but is '1.5'.");
  EXPECT_EQ(refusal("period", "-1"), "‘period’ must be at least 0, but is -1.");
  for (const char* text : {"0", "-1", "inf", "nan"})
    EXPECT_EQ(refusal("size", text),
              "‘size’ must be finite and > 0, but is " + std::string(text) + ".");
  EXPECT_EQ(refusal("size", "x"), "‘size’ must be a number, but is 'x'.");
  EXPECT_EQ(refusal("momentum", "1"), "‘momentum’ must lie in [0, 1), but is 1.");
  EXPECT_EQ(refusal("momentum", "nan"), "‘momentum’ must lie in [0, 1), but is nan.");
  EXPECT_EQ(refusal("share", "1"), "‘share’ must lie between 0 and 1, but is 1.");
  EXPECT_EQ(refusal("slope", "0"), "‘slope’ must lie in (0, 10], but is 0.");
  EXPECT_EQ(refusal("passes", "7.5"), "‘passes’ must be at least 8, but is 7.5.");
  EXPECT_EQ(refusal("colour", "green"), "‘colour’ must be one of red|blue, but is 'green'.");
  EXPECT_EQ(refusal("size_", "1"),
            "this method has no option ‘size_’. It has ‘steps’, ‘period’, ‘size’, ‘momentum’, "
            "‘share’, ‘slope’, ‘passes’, ‘colour’, ‘switch’.");
}

TEST(OptionTable, TellsTypesDefaultsAndOrigins) {
  const auto infos = table().infos();
  EXPECT_EQ(infos[0].type, "integer");
  EXPECT_EQ(infos[0].default_value, "auto");
  EXPECT_EQ(infos[7].type, "red|blue");
  EXPECT_EQ(infos[7].default_value, "blue");
  const GivenOptions given = {{"colour", "blue"}};
  const Options asked = *table().parse(given);
  Options resolved = asked;
  resolved.steps = 7;
  const auto settings = table().settings(asked, resolved, given);
  EXPECT_EQ(settings[0].value, "7");
  EXPECT_EQ(settings[0].origin, Origin::kRule);
  EXPECT_EQ(settings[2].value, "none") << "still open";
  EXPECT_EQ(settings[3].origin, Origin::kDefault);
  EXPECT_EQ(settings[7].origin, Origin::kGiven);
}

TEST(Capabilities, AreComparedByName) {
  const Capabilities needs = {Capability::kGradients, Capability::kHessians};
  PublicProblem problem;
  EXPECT_TRUE(needs.without(problem.offers()).empty());
  problem.network = true;
  EXPECT_EQ(to_string(needs.without(problem.offers())), "Hessians");
  EXPECT_EQ(needs_text(**find_method("dp-fw-l2")),
            "gradients; a bounded constraint set, a smooth regularizer");
  EXPECT_EQ(needs_text(**find_method("opt-ls")),
            "gradients, Hessians, losses; a smooth regularizer");
}

}  // namespace
}  // namespace sotto
