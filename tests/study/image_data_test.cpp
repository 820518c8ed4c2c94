#include "sotto/study/image_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_dir.hpp"

namespace sotto::study {
namespace {

using sotto::testing::TempDir;

/// Images of noise in CIFAR's format, `labels` bytes before each.
std::string images(int count, int labels, int classes) {
  std::string bytes;
  unsigned state = 1;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < labels; ++k) bytes += static_cast<char>(i % classes);
    for (int j = 0; j < 3072; ++j) {
      state = state * 1664525 + 1013904223;
      bytes += static_cast<char>(state >> 24);
    }
  }
  return bytes;
}

class ImageData : public ::testing::Test {
 protected:
  ImageData() {
    std::filesystem::create_directories(dir_.file("ten"));
    dir_.write("ten/data_batch_1.bin", images(24, 1, 10));
    dir_.write("ten/test_batch.bin", images(6, 1, 10));
    dir_.write("hundred.bin", images(16, 2, 20));
    spec_.name = "pictures";
    spec_.kind = DataKind::kCifar;
    spec_.train = "ten/data_batch_1.bin";
    spec_.test = "ten/test_batch.bin";
    spec_.mean = {0.5, 0.5, 0.5};
    spec_.deviation = {0.25, 0.25, 0.25};
  }

  Expected<DataSet> load(const std::string& model, std::int64_t rows = 0) {
    return load_images(spec_, model, {dir_.file(".")}, dir_.file("."), rows, [&](const auto& text) {
      shown_.push_back(text);
      return true;
    });
  }

  TempDir dir_;
  DataSpec spec_;
  std::vector<std::string> shown_;
};

TEST_F(ImageData, ImagesAsTheyAreWithANetworkAtItsStart) {
  const auto set = load("cifar-cnn5", 20);
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->train.rows(), 20);
  EXPECT_EQ(set->train.dim(), 3072);
  EXPECT_EQ(set->test->rows(), 6);
  ASSERT_TRUE(set->network);
  EXPECT_EQ(set->network->w, initial_weights(set->network->spec, 0));
  EXPECT_EQ(set->network->spec.mean, spec_.mean);
}

TEST_F(ImageData, ConstantsAreForEveryChannelOrRefused) {
  spec_.mean = {0.5};
  spec_.deviation = {0.25};
  const auto set = load("softmax");
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->network->spec.mean.size(), 3072u);
  spec_.mean = {0.5, 0.5};
  EXPECT_FALSE(load("cifar-cnn5"));
}

TEST_F(ImageData, PublicConvolutionsAreTrainedOnceAndSeenThrough) {
  const auto whole = load("cifar-cnn6");
  ASSERT_TRUE(whole) << whole.error().message;
  spec_.public_training = PublicTraining{"others", "hundred.bin", 100, 1, 0.01};
  const auto first = load("cifar-cnn6");
  ASSERT_TRUE(first) << first.error().message;
  const std::string kept = dir_.file("cifar-cnn6-others-1-epochs.json");
  ASSERT_TRUE(std::filesystem::exists(kept));
  // What is trained is less than the network, and no convolution is left.
  EXPECT_LT(first->network->w.size(), whole->network->w.size());
  for (const auto& layer : first->network->spec.layers) EXPECT_NE(layer.kind, LayerKind::kConv);
  EXPECT_EQ(first->network->w.size(), parameter_count(first->network->spec));
  EXPECT_EQ(first->test->rows(), 6);
  // Without the public images it is what was kept that is used.
  std::filesystem::remove(dir_.file("hundred.bin"));
  const auto second = load("cifar-cnn6");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->network->w, first->network->w);
  for (std::int64_t j = 0; j < first->train.dim(); ++j)
    EXPECT_EQ(second->train.row(3)[j], first->train.row(3)[j]);
}

TEST_F(ImageData, WithoutFilesTheRemedyIsNamed) {
  spec_.train = "nowhere";
  const auto set = load("cifar-cnn5");
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().kind, ErrorKind::kIo);
  EXPECT_THAT(set.error().message, ::testing::HasSubstr("‘data DIR’"));
}

}  // namespace
}  // namespace sotto::study
