#include "sotto/data/io/npy.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "sotto/data/io/idx.hpp"
#include "tests/data/support.hpp"
#include "tests/support/array_files.hpp"

namespace sotto {
namespace {

using test::content;
using test::gzip;
using test::row_of;
using testing::idx_file;

template <class T>
std::string npy(const std::string& descr,
                const std::string& shape,
                const std::vector<T>& values,
                const char* fortran = "False") {
  return testing::npy_header(descr, shape, fortran) + testing::bytes_of(values);
}

/// Facts may be taken from the rows.
ReadOptions inferring() {
  ReadOptions options;
  options.public_rows = true;
  return options;
}

class Npy : public test::DataTest {
 protected:
  std::string labels() { return write("y.npy", npy<std::int64_t>("<i8", "(2,)", {0, 1})); }
};

TEST_F(Npy, ReadsTheElementTypes) {
  const std::vector<std::string> files = {
      write("f4.npy", npy<float>("<f4", "(2, 3)", {1, 2, 3, 0, 5, 6})),
      write("f8.npy", npy<double>("<f8", "(2, 3)", {1, 2, 3, 0, 5, 6})),
      write("u1.npy", npy<std::uint8_t>("|u1", "(2, 3)", {1, 2, 3, 0, 5, 6})),
      write("i4.npy.gz", gzip(npy<std::int32_t>("<i4", "(2, 3)", {1, 2, 3, 0, 5, 6})))};
  for (const std::string& file : files) {
    for (const Layout layout : {Layout::kAuto, Layout::kSparse}) {
      ReadOptions options = inferring();
      options.layout = layout;
      const auto data = read_npy(file, labels(), options);
      ASSERT_TRUE(data) << data.error().message;
      EXPECT_EQ(data->table.sparse(), layout == Layout::kSparse);
      EXPECT_EQ(row_of(data->table, 0), (std::vector<float>{1, 2, 3}));
      EXPECT_EQ(row_of(data->table, 1), (std::vector<float>{0, 5, 6}));
      EXPECT_EQ(data->table.labels()[0], -1.0F);
      EXPECT_EQ(data->table.labels()[1], 1.0F);
    }
  }
}

TEST_F(Npy, WhatIsWrittenReadsBackTheSame) {
  std::vector<float> values(1000 * 7);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = i % 3 == 0 ? 0.0F : std::sin(static_cast<float>(i));
  std::vector<float> labels(1000);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = i % 4 == 0 ? 1.0F : -1.0F;
  const Table table = TableBuilder::dense(1000, 7, values, labels, {});
  for (const std::string end : {"", ".gz"}) {
    ASSERT_TRUE(write_npy(path("X.npy" + end), path("y.npy" + end), table));
    for (const Layout layout : {Layout::kDense, Layout::kSparse}) {
      ReadOptions options = inferring();
      options.layout = layout;
      const auto data = read_npy(path("X.npy" + end), path("y.npy" + end), options);
      ASSERT_TRUE(data) << data.error().message;
      EXPECT_EQ(content(data->table), content(table));
      ASSERT_TRUE(write_npy(path("X2.npy"), path("y2.npy"), data->table));
      EXPECT_EQ(test::read_all(path("X2.npy")).size(), 128 + values.size() * 4);
    }
  }
}

TEST_F(Npy, BadFiles) {
  const auto refuse = [&](const std::string& bytes, const char* text) {
    EXPECT_FAILS(read_npy(write("X.npy", bytes), labels(), inferring()), ErrorKind::kBadData, text);
  };
  const std::vector<float> six = {1, 2, 3, 4, 5, 6};
  const std::string good = npy("<f4", "(2, 3)", six);
  refuse("1,2\n3,4\n5", "this is not a .npy file");
  refuse(npy("<f4", "(2, 3)", six, "True"), "the array is in Fortran order");
  refuse(npy("<c8", "(2, 3)", six), "the element type is not supported");
  refuse(npy(">f4", "(2, 3)", six), "the element type is not supported");
  refuse(npy("<f4", "(6,)", six), "must be an array of two dimensions");
  refuse(npy("<f4", "(0, 3)", std::vector<float>{}), "not empty");
  refuse(npy("<f4", "(x, 3)", six), "must be an array of two dimensions");
  refuse(npy("<f4", "(4611686018427387904, 4)", six), "too large");
  refuse(npy("<f4", "(3, 3)", six), "the numbers of rows differ: 3 here, 2 labels");
  refuse(npy<float>("<f4", "(2, 2)", {1, 2, 3, NAN}), "X.npy:2:2: the value is not finite");
  refuse(npy<double>("<f8", "(2, 2)", {1, 1e300, 3, 4}), "X.npy:1:2: the value is not finite");
  refuse(good + "x", "goes on after the last value");
  for (std::size_t length = 1; length < good.size(); ++length)
    EXPECT_FAILS(read_npy(write("X.npy", good.substr(0, length)), labels(), inferring()),
                 ErrorKind::kBadData,
                 "X.npy: ");
  refuse(good.substr(0, good.size() - 1), "the file ends too early (truncated)");

  const std::string x = write("X.npy", good);
  EXPECT_FAILS(read_npy(x, path("none.npy"), inferring()), ErrorKind::kIo, "can't open");
  EXPECT_FAILS(read_npy(path("none.npy"), labels(), inferring()), ErrorKind::kIo, "can't open");
  EXPECT_FAILS(read_npy(x, write("y2.npy", npy<float>("<f4", "(2,)", {1, INFINITY})), inferring()),
               ErrorKind::kBadData,
               "X.npy:2:4: the label is not a finite number");
  EXPECT_FAILS(read_npy(x, write("y2.npy", npy<float>("<f4", "(1, 2)", {1, 2})), inferring()),
               ErrorKind::kBadData,
               "labels must be an array of one dimension");
  EXPECT_FAILS(read_npy(x, write("y2.npy", npy<float>("<f4", "(2,)", {1})), inferring()),
               ErrorKind::kBadData,
               "truncated");
}

class Idx : public test::DataTest {};

TEST_F(Idx, ReadsImagesAndLabels) {
  const std::string x =
      write("x.gz", gzip(idx_file({2, 1, 2}, std::string("\xff\x00\x33\x66", 4))));
  const std::string y = write("y", idx_file({2}, std::string("\x07\x03", 2)));
  ReadOptions options;
  options.labels = LabelKind::kMulticlass;
  options.bias = true;
  const auto data = read_idx(x, y, options);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(row_of(data->table, 0), (std::vector<float>{1, 0, 1}));
  EXPECT_EQ(row_of(data->table, 1), (std::vector<float>{0.2F, 0.4F, 1}));
  EXPECT_EQ(data->table.labels()[0], 7.0F);
  EXPECT_EQ(data->class_names.size(), 10U) << "MNIST's, whichever the rows have";
  EXPECT_DOUBLE_EQ(data->row_norm_bound, std::sqrt(3));
}

TEST_F(Idx, BadFiles) {
  const std::string y = write("y", idx_file({2}, std::string("\x00\x01", 2)));
  const auto refuse = [&](const std::string& bytes, const char* text) {
    EXPECT_FAILS(read_idx(write("x", bytes), y, inferring()), ErrorKind::kBadData, text);
  };
  refuse("hello world", "this is not an IDX file");
  refuse(idx_file({2, 1, 2}, "abcd", 13), "IDX data must be bytes");
  refuse(idx_file({2, 1, 2}, "abc"), "truncated");
  refuse(idx_file({2, 1, 2}, "abcde"), "goes on after");
  refuse(idx_file({3, 1, 2}, "abcdef"), "the numbers of rows differ: 3 here, 2 labels");
  refuse(idx_file({2, 0, 2}, ""), "empty or far too large");
  refuse(idx_file({2, 4000000000U, 4000000000U}, ""), "empty or far too large");
  refuse(std::string("\0\0\x08", 3), "truncated");
}

TEST_F(Idx, Mnist) {
  const std::string folder = std::string(SOTTO_SHARED_DIR) + "/data/mnist/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "needs " << folder;
  ReadOptions options;
  options.labels = LabelKind::kMulticlass;
  const auto data =
      read_idx(folder + "t10k-images-idx3-ubyte.gz", folder + "t10k-labels-idx1-ubyte.gz", options);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->table.rows(), 10000);
  EXPECT_EQ(data->table.dim(), 784);
  EXPECT_EQ(data->class_names.size(), 10U);
}

}  // namespace
}  // namespace sotto
