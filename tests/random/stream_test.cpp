#include "sotto/random/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

std::vector<std::uint64_t> words(Stream& stream, std::size_t count) {
  std::vector<std::uint64_t> result(count);
  for (auto& word : result) word = stream.next();
  return result;
}

// golden/stream.py
TEST(Stream, SeededIsAesCounterModeUnderTheHashOfItsArguments) {
  Stream noise = Stream::seeded(0, Purpose::kNoise);
  const auto first = words(noise, 2052);
  EXPECT_EQ(first[0], 0x96d8d4e3e87ee113u);
  EXPECT_EQ(first[1], 0xe98361d9a501cf83u);
  EXPECT_EQ(first[1024], 0x0179c7b55d0f2a40u);
  EXPECT_EQ(first[2051], 0x3dabf9edef357531u);
  Stream sampling = Stream::seeded(12345, Purpose::kSampling, 7);
  const auto second = words(sampling, 2052);
  EXPECT_EQ(second[0], 0xf47d0a114f5ae50au);
  EXPECT_EQ(second[1], 0x4ab08276d0ad38f3u);
  EXPECT_EQ(second[1024], 0x5e766d5293fd2d14u);
  EXPECT_EQ(second[2051], 0xf868dd5f015e8235u);
}

TEST(Stream, BytesDoNotDependOnThePiecesTheyAreTakenIn) {
  std::vector<std::byte> whole(100000);
  Stream::seeded(3, Purpose::kData).fill(whole);
  std::vector<std::byte> pieces;
  Stream stream = Stream::seeded(3, Purpose::kData);
  for (std::size_t size = 1; pieces.size() < whole.size(); size = size * 3 % 9973 + 1) {
    std::vector<std::byte> piece(std::min(size, whole.size() - pieces.size()));
    stream.fill(piece);
    pieces.insert(pieces.end(), piece.begin(), piece.end());
  }
  EXPECT_EQ(pieces, whole);
}

TEST(Stream, ASeededStreamGoesOnFromAnyPlace) {
  std::vector<std::byte> whole(50000);
  Stream::seeded(3, Purpose::kData).fill(whole);
  for (const std::size_t place : {0u, 1u, 15u, 16u, 17u, 8191u, 8192u, 8200u, 16384u, 40001u}) {
    Stream first = Stream::seeded(3, Purpose::kData);
    std::vector<std::byte> skipped(place);
    for (std::size_t done = 0; done < place;) {  // in pieces, some through the buffer
      const std::size_t piece = std::min<std::size_t>(place - done, done % 3 == 0 ? 7 : 5000);
      first.fill(std::span(skipped).subspan(done, piece));
      done += piece;
    }
    EXPECT_EQ(first.position(), place);
    Stream second = Stream::seeded(3, Purpose::kData);
    second.next();
    second.skip_to(first.position());
    EXPECT_EQ(second.position(), place);
    std::vector<std::byte> rest(9000);
    second.fill(rest);
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), whole.begin() + static_cast<long>(place)));
  }
}

TEST(Stream, ASectionHoldsTheBytesThatWouldHaveComeNext) {
  std::vector<std::byte> whole(50000);
  Stream::seeded(3, Purpose::kData).fill(whole);
  for (const std::size_t before : {0u, 8u, 100u, 8184u, 9000u})
    for (const std::size_t size : {0u, 16u, 100u, 8100u, 20000u}) {
      Stream stream = Stream::seeded(3, Purpose::kData);
      std::vector<std::byte> bytes(before);
      stream.fill(bytes);
      const Stream::Section section = stream.take(size);
      EXPECT_EQ(stream.position(), before + size);
      std::vector<std::byte> rest(1000), part(size / 2);
      stream.fill(rest);
      section.read(size - part.size(), part);
      EXPECT_TRUE(
          std::equal(rest.begin(), rest.end(), whole.begin() + static_cast<long>(before + size)));
      EXPECT_TRUE(std::equal(part.begin(),
                             part.end(),
                             whole.begin() + static_cast<long>(before + size - part.size())));
      EXPECT_THROW(section.read(size, std::span(rest).first(1)), std::logic_error);
    }
}

TEST(Stream, APairOfReleaseAndBlockHasBytesOfItsOwn) {
  Stream stream = Stream::seeded(3, Purpose::kSampling);
  std::set<std::uint64_t> first;
  const auto at = [&](std::uint64_t release, std::uint64_t block) {
    stream.go_to(release, block, 300);
    std::vector<std::uint64_t> words;
    for (int i = 0; i < 2000; ++i) words.push_back(stream.next());  // beyond the first refill
    return words;
  };
  const auto here = at(5, 9);
  for (const std::uint64_t release : {1, 5, 6})
    for (const std::uint64_t block : {0, 8, 9, (1 << 28) - 1}) first.insert(at(release, block)[0]);
  EXPECT_EQ(first.size(), 12U) << "no two pairs begin alike";
  EXPECT_EQ(at(5, 9), here) << "coming back brings the same bytes";
  Stream untouched = Stream::seeded(3, Purpose::kSampling);
  EXPECT_FALSE(first.contains(untouched.next())) << "nor like the stream that went nowhere";
  EXPECT_THROW(stream.go_to(0, 0), std::logic_error);
}

TEST(Stream, OfASecureKindHasNoPlace) {
  EXPECT_THROW(Stream::secure(Purpose::kNoise).position(), std::logic_error);
  EXPECT_THROW(Stream::secure(Purpose::kNoise).skip_to(1), std::logic_error);
}

TEST(Stream, PurposesInstancesAndSeedsGiveDifferentStreams) {
  const auto first = [](std::uint64_t seed, Purpose purpose, std::uint64_t instance) {
    return Stream::seeded(seed, purpose, instance).next();
  };
  EXPECT_EQ(first(1, Purpose::kNoise, 0), first(1, Purpose::kNoise, 0));
  EXPECT_NE(first(1, Purpose::kNoise, 0), first(1, Purpose::kSampling, 0));
  EXPECT_NE(first(1, Purpose::kNoise, 0), first(1, Purpose::kNoise, 1));
  EXPECT_NE(first(1, Purpose::kNoise, 0), first(2, Purpose::kNoise, 0));
}

TEST(Stream, SecureStreamsAreFreshAndSayThatTheyAreSecure) {
  Stream a = Stream::secure(Purpose::kNoise);
  Stream b = Stream::secure(Purpose::kNoise);
  EXPECT_NE(a.next(), b.next());  // equal with probability 2^-64
  EXPECT_FALSE(a.insecure());
  EXPECT_TRUE(Stream::seeded(1, Purpose::kNoise).insecure());
}

TEST(Stream, BelowIsUnbiasedWhereTheModuloIsNot) {
  // With bound 3 x 2^62 the remainder of a word lies below 2^62 with probability 1/2, not 1/3.
  constexpr std::uint64_t kBound = std::uint64_t{3} << 62;
  constexpr std::int64_t kDraws = 30000;
  Stream stream = Stream::seeded(5, Purpose::kSampling);
  std::int64_t exact = 0;
  std::int64_t biased = 0;
  for (std::int64_t i = 0; i < kDraws; ++i) {
    const std::uint64_t draw = stream.below(kBound);
    ASSERT_LT(draw, kBound);
    exact += draw < kBound / 3;
    biased += stream.next() % kBound < kBound / 3;
  }
  EXPECT_TRUE(testing::plausible(exact, kDraws, 1.0 / 3));
  EXPECT_FALSE(testing::plausible(biased, kDraws, 1.0 / 3));
}

TEST(Stream, BelowIsUniformOnSmallRanges) {
  Stream stream = Stream::seeded(6, Purpose::kSampling);
  std::vector<std::int64_t> counts(10);
  for (int i = 0; i < 100000; ++i) ++counts[stream.below(10)];
  EXPECT_LT(testing::chi_square(counts, std::vector<double>(10, 10000.0)),
            testing::chi_square_critical(9));
  EXPECT_EQ(stream.below(1), 0u);
  EXPECT_THROW(stream.below(0), std::logic_error);
}

TEST(Stream, UniformStaysInsideTheUnitInterval) {
  Stream stream = Stream::seeded(7, Purpose::kData);
  std::vector<double> sample(100000);
  for (double& x : sample) {
    x = stream.uniform();
    ASSERT_GT(x, 0);
    ASSERT_LT(x, 1);
  }
  EXPECT_LT(testing::kolmogorov_distance(sample, [](double x) { return x; }),
            testing::kolmogorov_critical(sample.size()));
}

}  // namespace
}  // namespace sotto
