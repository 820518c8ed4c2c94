#include "sotto/data/io/input_file.hpp"

#include "sotto/data/io/libsvm.hpp"
#include "sotto/data/io/line_batches.hpp"
#include "tests/data/support.hpp"

namespace sotto {
namespace {

using test::gzip;

class InputFileTest : public test::DataTest {
 protected:
  static ReadOptions two_features() {
    ReadOptions options;
    options.dim = 2;
    return options;
  }
  static std::string read_in_pieces(InputFile& file, std::size_t piece) {
    std::string all;
    std::string buffer(piece, '\0');
    for (;;) {
      const auto got = file.read(buffer);
      EXPECT_TRUE(got.has_value());
      if (!got || *got == 0) return all;
      all.append(buffer, 0, *got);
    }
  }
};

TEST_F(InputFileTest, PlainAndGzipGiveTheSameBytesTwice) {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += std::to_string(i * 7919 % 100003) + '\n';
  const std::string half = text.substr(0, text.size() / 2);
  const std::vector<std::string> files = {
      write("a", text),
      write("b.gz", gzip(text)),
      write("two.gz", gzip(half) + gzip(text.substr(half.size())))};
  for (const std::string& name : files) {
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{1} << 22}) {
      auto file = InputFile::open(name);
      ASSERT_TRUE(file);
      EXPECT_EQ(read_in_pieces(*file, piece), text);
      ASSERT_TRUE(file->rewind());
      EXPECT_EQ(read_in_pieces(*file, piece), text);
    }
  }
}

TEST_F(InputFileTest, GzipCutAnywhereIsRefused) {
  const std::string packed = gzip("+1 1:0.5 2:1\n-1 1:1\n+1 2:0.25\n");
  for (std::size_t length = 1; length < packed.size(); ++length) {
    const auto data = read_libsvm(write("cut.gz", packed.substr(0, length)), two_features());
    ASSERT_FALSE(data) << length;
    EXPECT_EQ(data.error().kind, ErrorKind::kBadData) << length;
    if (length >= 2) {
      EXPECT_NE(data.error().message.find("ends too early (truncated)"), std::string::npos)
          << length << ": " << data.error().message;
    }
  }
}

TEST_F(InputFileTest, GzipIsKnownByItsName) {
  EXPECT_FAILS(
      InputFile::open(write("packed.svm", gzip("+1 1:1\n"))), ErrorKind::kBadData, "Rename it to");
  auto file = InputFile::open(write("any.svm", gzip("+1 1:1\n")), true);
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->compressed());
  EXPECT_FAILS(read_libsvm(write("plain.gz", "+1 1:1\n"), two_features()),
               ErrorKind::kBadData,
               "the gzip data is damaged");
}

TEST_F(InputFileTest, DamagedGzipIsRefused) {
  const std::string packed = gzip("+1 1:0.5 2:1\n-1 1:1\n+1 2:0.25\n");
  std::size_t refused = 0;
  for (std::size_t i = 10; i < packed.size(); ++i) {  // the first ten bytes are the header
    std::string damaged = packed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    const auto data = read_libsvm(write("bad.gz", damaged), two_features());
    EXPECT_FALSE(data.has_value()) << "the checksum covers every byte, here " << i;
    refused += data ? 0 : 1;
  }
  EXPECT_EQ(refused, packed.size() - 10);
  EXPECT_FAILS(read_libsvm(write("tail.gz", packed + "garbage"), two_features()),
               ErrorKind::kBadData,
               "the gzip data is damaged");
}

// Whatever one record holds, there are as many units as without it.
TEST_F(InputFileTest, AByteOrderMarkAloneIsARowThatCantBeRead) {
  const std::string mark = "\xEF\xBB\xBF";
  const std::string row = "+1 1:0.5\n";
  ReadOptions options = two_features();
  EXPECT_EQ(read_libsvm(write("a", mark + row + row), options)->table.rows(), 2);
  options.misfits = Misfits::kNull;
  for (const std::string& text : {mark + "\n" + row,
                                  mark + " \t\r\n" + row,
                                  row + mark + "\n",
                                  row + mark,
                                  mark + row + row}) {
    const auto data = read_libsvm(write("a", text), options);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(data->table.rows(), 2) << text;
  }
}

TEST_F(InputFileTest, BatchesJoinToTheWholeText) {
  std::string text =
      "\xEF\xBB\xBF"
      "first";  // a mark is dropped from lines (row_reader.hpp), not from the text
  for (int i = 0; i < 3000; ++i)
    text += std::string(static_cast<std::size_t>(i * 31 % 97), 'x') + '\n';
  text += "last";
  for (const std::size_t batch_bytes : {1U, 10U, 100U, 4096U, 1U << 20}) {
    auto file = InputFile::open(write("a", text));
    ASSERT_TRUE(file);
    LineBatches batches(*std::move(file), InputLimits::kLineBytes, batch_bytes);
    for (int round = 0; round < 2; ++round) {
      std::string all;
      for (;;) {
        const auto more = batches.advance();
        ASSERT_TRUE(more);
        if (!*more) break;
        batches.prefetch();
        for (const std::string_view chunk : batches.chunks()) {
          EXPECT_TRUE(chunk.ends_with('\n') || chunk.ends_with("last"));
          all += chunk;
        }
      }
      EXPECT_EQ(all, text);
      ASSERT_TRUE(batches.rewind());
    }
  }
}

}  // namespace
}  // namespace sotto
