// Fetching against a folder and against a web server on this machine.

#include "sotto/data/fetch/fetch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "sotto/core/stop.hpp"
#include "sotto/data/fetch/child.hpp"
#include "tests/support/local_server.hpp"
#include "tests/support/shared_data.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::LocalServer;
using testing::TempDir;

std::string sha256(const std::string& path) { return sha256_of_file(path).value(); }

/// A data set of three files: plain, bzip2, and two members of an archive.
struct Place {
  TempDir dir;
  DataSet set;
  std::string folder;

  Place() : folder(dir.file("place")) {
    fs::create_directories(folder + "/inner");
    const auto write = [&](const std::string& name, const std::string& content) {
      dir.write("place/" + name, content);
      return KeptFile{name, static_cast<std::int64_t>(content.size()), sha256(folder + "/" + name)};
    };
    set.name = "toy";
    const KeptFile plain = write("plain.txt", std::string(300'000, 'p'));
    const KeptFile rows = write("rows", "1 1:2\n");
    const KeptFile a = write("inner/a.bin", "aaa");
    const KeptFile b = write("inner/b.bin", "bb");
    EXPECT_EQ(run_program({"bzip2", "--keep", "--", folder + "/rows"}), 0);
    EXPECT_EQ(run_program({"tar", "-czf", folder + "/inner.tar.gz", "-C", folder, "inner"}), 0);
    fs::remove(folder + "/rows");
    fs::remove_all(folder + "/inner");
    set.files = {{plain.path, {}, Packing::kPlain, plain.sha256, {plain}},
                 {"rows.bz2", {}, Packing::kBzip2, "", {rows}},
                 {"inner.tar.gz", {}, Packing::kTarGzip, sha256(folder + "/inner.tar.gz"), {a, b}}};
  }

  FetchOptions from(const std::string& mirror) const {
    FetchOptions options;
    options.folder = dir.file("out");
    options.mirror = mirror;
    return options;
  }
  std::string got(const std::string& name) const { return TempDir::read(dir.file("out/" + name)); }
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(dir.file("out")))
      if (entry.is_regular_file()) all.insert(fs::relative(entry.path(), dir.file("out")));
    return all;
  }
};

const std::set<std::string> kAll = {"plain.txt", "rows", "inner/a.bin", "inner/b.bin"};

TEST(Sha256, KnownAnswers) {
  const TempDir dir;
  // FIPS 180-2, appendix B.1, and the empty message.
  EXPECT_EQ(sha256(dir.write("abc", "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(dir.write("empty", "")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of_file(dir.file("none")).error().kind, ErrorKind::kIo);
}

TEST(RunProgram, ExitCodesAndOutput) {
  const TempDir dir;
  EXPECT_EQ(run_program({"false"}), 1);
  EXPECT_EQ(run_program({"/no/such/program"}), kNoSuchProgram);
  EXPECT_EQ(run_program({"printf", "%s", "$HOME; `x`"}, {dir.file("out")}), 0);
  EXPECT_EQ(TempDir::read(dir.file("out")), "$HOME; `x`");  // no shell in between
}

TEST(RunProgram, LimitsWhatIsWritten) {
  const TempDir dir;
  const auto write = [&](std::int64_t most) {
    return run_program({"head", "-c", "50000000", "/dev/zero"}, {dir.file("out"), false, most});
  };
  EXPECT_EQ(write(0), 0);
  EXPECT_EQ(write(50'000'000), 0);
  EXPECT_NE(write(1'000'000), 0);
  EXPECT_LT(fs::file_size(dir.file("out")), 50'000'000U);
}

TEST(RunProgram, EndsWithThisProgram) {
  std::thread stop([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    request_stop();
  });
  EXPECT_EQ(run_program({"sleep", "600"}), kStopped);
  stop.join();
  forget_stop();
}

TEST(Fetch, FromAFolder) {
  const Place place;
  std::vector<std::string> heard;
  const auto files = fetch(place.set, place.from(place.folder), [&](const FetchedFile& file) {
    EXPECT_FALSE(file.was_there);
    heard.push_back(file.path);
  });
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(heard.size(), 4u);
  EXPECT_EQ(place.names(), kAll);
  EXPECT_EQ(place.got("rows"), "1 1:2\n");
  EXPECT_EQ(place.got("inner/b.bin"), "bb");
  // What is there is not fetched again: the place may be gone.
  fs::remove_all(place.folder + "/inner.tar.gz");
  const auto again = fetch(place.set, place.from(place.folder));
  ASSERT_TRUE(again) << again.error().message;
  for (const auto& file : *again) EXPECT_TRUE(file.was_there);
}

TEST(Fetch, AnUnpackedFolderIsAMirrorToo) {
  const Place place;
  ASSERT_TRUE(fetch(place.set, place.from(place.folder)));
  FetchOptions options = place.from(place.dir.file("out"));
  options.folder = place.dir.file("second");
  ASSERT_TRUE(fetch(place.set, options));
  EXPECT_EQ(TempDir::read(place.dir.file("second/inner/a.bin")), "aaa");
}

TEST(Fetch, RefusesWhatIsNotOfficialAndKeepsNothing) {
  for (const char* name : {"plain.txt", "rows.bz2", "inner.tar.gz"}) {
    const Place place;
    std::string content = TempDir::read(place.folder + "/" + name);
    content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
    place.dir.write(std::string("place/") + name, content);
    const auto files = fetch(place.set, place.from(place.folder));
    ASSERT_FALSE(files) << name;
    EXPECT_EQ(files.error().kind, ErrorKind::kBadData);
    EXPECT_THAT(files.error().message, HasSubstr("official"));
    for (const auto& each : place.names()) EXPECT_TRUE(kAll.contains(each)) << each;
    EXPECT_EQ(place.names().empty(), std::string(name) == "plain.txt");
  }
}

// Unpacked no further than the official file goes: before its checksum is known to be wrong.
TEST(Fetch, ABombIsNotUnpacked) {
  const Place place;
  place.dir.write("place/rows", std::string(std::size_t{50} << 20, '\n'));
  ASSERT_EQ(run_program({"bzip2", "--force", "--", place.folder + "/rows"}), 0);
  ASSERT_LT(fs::file_size(place.folder + "/rows.bz2"), 1000U);
  const auto files = fetch(place.set, place.from(place.folder));
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().kind, ErrorKind::kBadData);
  EXPECT_THAT(files.error().message, HasSubstr("can't be unpacked")) << "not: its SHA-256";
  EXPECT_EQ(place.names(), std::set<std::string>{"plain.txt"});
}

TEST(Fetch, NotMoreThanTheOfficialBytesIsCopied) {
  const Place place;
  place.dir.write("place/plain.txt", std::string(std::size_t{50} << 20, 'p'));
  const auto copied = fetch(place.set, place.from(place.folder));
  ASSERT_FALSE(copied);
  EXPECT_THAT(copied.error().message, HasSubstr("larger than 300000 bytes"));
  EXPECT_TRUE(place.names().empty());
}

TEST(Fetch, NotMoreThanTheOfficialBytesIsDownloaded) {
  const Place place;
  place.dir.write("place/plain.txt", std::string(std::size_t{50} << 20, 'p'));
  const LocalServer server(place.folder);
  if (!server.runs()) GTEST_SKIP() << "python3 or curl is not installed";
  const auto files = fetch(place.set, place.from(server.address()));
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().kind, ErrorKind::kBadData);
  EXPECT_THAT(files.error().message, HasSubstr("larger than 300000 bytes"));
  EXPECT_TRUE(place.names().empty());
}

TEST(Fetch, NeverOverwritesAFileThatIsNotTheOfficialOne) {
  const Place place;
  fs::create_directories(place.dir.file("out"));
  place.dir.write("out/plain.txt", "mine");
  const auto files = fetch(place.set, place.from(place.folder));
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().kind, ErrorKind::kBadData);
  EXPECT_THAT(files.error().message, HasSubstr("Move it away"));
  EXPECT_EQ(place.got("plain.txt"), "mine");
}

TEST(Fetch, MissingFilesAndPlaces) {
  const Place place;
  fs::remove(place.folder + "/plain.txt");
  const auto missing = fetch(place.set, place.from(place.folder));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kIo);
  EXPECT_THAT(missing.error().message, HasSubstr("plain.txt"));
  EXPECT_EQ(fetch(place.set, place.from("/nonexistent")).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(fetch(place.set, place.from("ftp://host")).error().kind, ErrorKind::kUsage);
  FetchOptions options = place.from(place.folder);
  options.folder = "/dev/null/out";
  EXPECT_EQ(fetch(place.set, options).error().kind, ErrorKind::kIo);
}

TEST(Fetch, FromAServer) {
  const Place place;
  const LocalServer server(place.folder);
  if (!server.runs()) GTEST_SKIP() << "python3 or curl is not installed";
  const auto files = fetch(place.set, place.from(server.address()));
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(place.names(), kAll);
  EXPECT_EQ(place.got("plain.txt"), std::string(300'000, 'p'));
}

TEST(Fetch, GoesOnWithAPartAndWithAWholeOne) {
  for (const std::size_t size : {100'000u, 300'000u}) {
    const Place place;
    const LocalServer server(place.folder);
    if (!server.runs()) GTEST_SKIP() << "python3 or curl is not installed";
    fs::create_directories(place.dir.file("out"));
    place.dir.write("out/plain.txt.part", std::string(size, 'p'));
    const auto files = fetch(place.set, place.from(server.address() + "/"));
    ASSERT_TRUE(files) << files.error().message;
    EXPECT_EQ(place.names(), kAll);
  }
}

TEST(Fetch, GoesOnInTheMiddleWhereTheServerCan) {
  const Place place;
  const LocalServer server(place.folder, true);
  if (!server.runs()) GTEST_SKIP() << "python3 or curl is not installed";
  fs::create_directories(place.dir.file("out"));
  place.dir.write("out/plain.txt.part", std::string(100'000, 'p'));
  const auto files = fetch(place.set, place.from(server.address()));
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_THAT(server.log(), HasSubstr("range 100000"));
  EXPECT_EQ(place.got("plain.txt"), std::string(300'000, 'p'));
}

TEST(Fetch, ServersThatRefuse) {
  const Place place;
  std::string address;
  {
    const LocalServer server(place.folder);
    if (!server.runs()) GTEST_SKIP() << "python3 or curl is not installed";
    address = server.address();
    const auto missing = fetch(place.set, place.from(address + "/nowhere"));
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().kind, ErrorKind::kIo);
    EXPECT_THAT(missing.error().message, HasSubstr("not there, or refuses"));
    EXPECT_THAT(missing.error().message, HasSubstr("‘mirror"));
    place.dir.write("place/plain.txt", "something else");
    const auto other = fetch(place.set, place.from(address));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().kind, ErrorKind::kBadData);
    EXPECT_TRUE(place.names().empty());
  }
  const auto gone = fetch(place.set, place.from(address));
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message, HasSubstr("no connection"));
}

TEST(Fetch, TheCatalogueIsSound) {
  std::set<std::string> names;
  for (const auto& set : data_sets()) {
    EXPECT_TRUE(names.insert(set.name).second);
    EXPECT_EQ(find_data_set(set.name).value(), &set);
    for (const auto& file : set.files) {
      ASSERT_FALSE(file.places.empty());
      for (const auto& place : file.places) {
        EXPECT_TRUE(place.starts_with("https://")) << place;
        EXPECT_FALSE(place.ends_with('/')) << place;
      }
      ASSERT_FALSE(file.kept.empty());
      if (file.packing == Packing::kPlain) {
        EXPECT_EQ(file.sha256, file.kept[0].sha256);
      }
      for (const auto& kept : file.kept) {
        EXPECT_EQ(kept.sha256.size(), 64u) << kept.path;
        for (const char c : kept.sha256)
          EXPECT_TRUE(std::isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f'));
        EXPECT_EQ(kept.path.find(".."), kept.path.npos);
      }
    }
  }
  EXPECT_THAT(find_data_set("iris").error().message, HasSubstr("mnist, cifar10, cifar100, a9a"));
}

TEST(Fetch, TheCatalogueKnowsTheOfficialMnist) {
  SOTTO_NEEDS_DATA("mnist/train-images-idx3-ubyte.gz");
  const TempDir dir;
  FetchOptions options;
  options.folder = dir.file("out");
  options.mirror = fs::path(testing::shared_data("mnist/train-images-idx3-ubyte.gz"))
                       .parent_path()
                       .parent_path();
  const auto files = fetch(*find_data_set("mnist").value(), options);
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(files->size(), 4u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ((*files)[i].bytes, find_data_set("mnist").value()->files[i].kept[0].bytes);
}

}  // namespace
}  // namespace sotto
