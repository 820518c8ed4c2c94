#include "sotto/model/coefficients.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

constexpr const char* kSchema = R"([[column]]
name = "age"
kind = "numeric"
min = 20
max = 100
missing_indicator = true
[[column]]
name = "kind"
kind = "categorical"
values = [["a", "A"], "b"]
other = true
[[column]]
name = "name"
kind = "ignore"
[[column]]
name = "weight"
kind = "numeric"
min = -1
max = 1
[[column]]
name = "readmitted"
kind = "label"
negative = ["NO", ">30"]
positive = ["<30"]
)";

Model model_of_schema() {
  Model model;
  model.schema = kSchema;
  model.bias = true;
  model.feature_names = {"age", "age=missing", "kind=a", "kind=b", "kind=other", "weight", "bias"};
  model.class_names = {"NO", "<30"};
  model.w = Vector::LinSpaced(7, 1, 7);
  return model;
}

TEST(Coefficients, AreInTheColumnsOwnUnits) {
  const auto all = coefficients(model_of_schema());
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 7u);
  EXPECT_EQ((*all)[0].name, "age");
  EXPECT_DOUBLE_EQ((*all)[0].per_unit(), 1.0 / 80);
  EXPECT_EQ((*all)[1].name, "age=missing");
  for (const std::size_t k : {1, 2, 3, 4, 6}) EXPECT_FALSE((*all)[k].bounds) << k;
  EXPECT_DOUBLE_EQ((*all)[2].per_unit(), 3) << "a category has no unit";
  EXPECT_EQ((*all)[5].name, "weight");
  EXPECT_DOUBLE_EQ((*all)[5].per_unit(), 3);
  EXPECT_EQ((*all)[6].name, "intercept");
  EXPECT_EQ((*all)[6].weight, 7);
}

TEST(Coefficients, WithoutASchemaFeaturesHaveNumbers) {
  Model model;
  model.w = Vector::LinSpaced(2, 1, 2);
  const auto all = coefficients(model);
  ASSERT_TRUE(all);
  EXPECT_EQ((*all)[1].name, "feature 2");
  EXPECT_FALSE((*all)[1].bounds);
  EXPECT_EQ(*full_class_names(model), (std::vector<std::string>{"-1", "+1"}));
  model.loss = LossKind::kSquared;
  EXPECT_TRUE(full_class_names(model)->empty());
}

TEST(Coefficients, ClassesHaveAllTheirSpellings) {
  EXPECT_EQ(*full_class_names(model_of_schema()), (std::vector<std::string>{"NO or >30", "<30"}));
}

TEST(Coefficients, ASchemaOfAnotherModelIsRefused) {
  Model model = model_of_schema();
  model.w = Vector::Zero(3);
  EXPECT_EQ(coefficients(model).error().kind, ErrorKind::kBadData);
  model.w = Vector();
  EXPECT_EQ(coefficients(model).error().kind, ErrorKind::kBadData);
  model.schema = "no schema";
  EXPECT_EQ(coefficients(model).error().kind, ErrorKind::kBadData);
}

}  // namespace
}  // namespace sotto
