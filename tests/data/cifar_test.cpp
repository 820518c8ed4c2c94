#include "sotto/data/io/cifar.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "sotto/data/load.hpp"
#include "tests/data/support.hpp"

namespace sotto {
namespace {

class Cifar : public test::DataTest {
 protected:
  /// A record whose pixel j is (seed + j) mod 256.
  static std::string record(const std::string& labels, int seed) {
    std::string bytes = labels;
    for (int j = 0; j < 3072; ++j) bytes += static_cast<char>((seed + j) % 256);
    return bytes;
  }
  static ReadOptions classes() {
    ReadOptions options;
    options.labels = LabelKind::kMulticlass;
    return options;
  }
};

TEST_F(Cifar, ReadsRecordsOfSeveralFiles) {
  const std::string a = write("data_batch_1.bin", record("\x03", 0) + record("\x09", 7));
  const std::string b = write("data_batch_2.bin", record("\x05", 255));
  for (const std::string& path : {a + "," + b, std::filesystem::path(a).parent_path().string()}) {
    const auto data = read_cifar(path, CifarKind::kTen, classes());
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(data->table.rows(), 3);
    EXPECT_EQ(data->table.dim(), 3072);
    EXPECT_EQ(data->class_names.size(), 10U);
    EXPECT_TRUE(data->notes.empty());
    EXPECT_EQ(data->table.labels()[0], 3.0F);
    EXPECT_EQ(data->table.labels()[2], 5.0F);
    EXPECT_EQ(data->table.row(1)[0], 7 / 255.0F);
    EXPECT_EQ(data->table.row(1)[3071], static_cast<float>((7 + 3071) % 256) / 255.0F);
    EXPECT_EQ(data->table.row(2)[0], 1.0F);
  }
}

TEST_F(Cifar, HundredTakesTheFineLabel) {
  const std::string path = write("train.bin", record(std::string("\x02\x63", 2), 1));
  const auto data = read_cifar(path, CifarKind::kHundred, classes());
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->table.labels()[0], 99.0F);
  EXPECT_EQ(data->class_names.size(), 100U);
}

TEST_F(Cifar, BadFiles) {
  EXPECT_FAILS(read_cifar(write("x.bin", record("\x03", 0) + "z"), CifarKind::kTen, classes()),
               ErrorKind::kBadData,
               "multiple of 3073");
  EXPECT_FAILS(read_cifar(write("x.bin", record("\x0a", 0)), CifarKind::kTen, classes()),
               ErrorKind::kBadData,
               "x.bin:1:1: the label is not one of the declared classes");
  EXPECT_FAILS(read_cifar("/nonexistent.bin", CifarKind::kTen, classes()), ErrorKind::kIo, "");
  LoadOptions options;
  options.path = "data_batch_1.bin";
  EXPECT_EQ(resolve_format(options)->name, "cifar10");
}

}  // namespace
}  // namespace sotto
