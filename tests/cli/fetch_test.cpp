// `sotto data fetch` from the outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/command.hpp"
#include "tests/support/local_server.hpp"
#include "tests/support/shared_data.hpp"

namespace sotto::testing {
namespace {

using ::testing::HasSubstr;

TEST(DataFetch, ListsWhatThereIs) {
  const auto run = sotto({"data fetch"});
  EXPECT_EQ(run.code, 0);
  for (const char* name : {"mnist", "cifar10", "cifar100", "a9a", "ijcnn1", "covertype"})
    EXPECT_THAT(run.out, HasSubstr(name));
}

TEST(DataFetch, ExitCodes) {
  const TempDir dir;
  std::filesystem::create_directories(dir.file("mirror"));
  const std::string out = dir.file("out");
  const auto unknown = sotto({"data fetch iris --out", out});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("Known: mnist"));
  EXPECT_EQ(sotto({"data fetch wdbc --out", out, "--mirror", dir.file("none")}).code, 2);
  const auto missing = sotto({"data fetch wdbc --out", out, "--mirror", dir.file("mirror")});
  EXPECT_EQ(missing.code, 6);
  EXPECT_THAT(missing.err, HasSubstr("wdbc.data"));
  dir.write("mirror/wdbc.data", "not it");
  const auto wrong = sotto({"data fetch wdbc --out", out, "--mirror", dir.file("mirror")});
  EXPECT_EQ(wrong.code, 3);
  EXPECT_THAT(wrong.err, HasSubstr("SHA-256"));
  EXPECT_FALSE(std::filesystem::exists(out + "/wdbc.data"));
}

TEST(DataFetch, AnOfficialFileFromAServerAndFromAFolder) {
  SOTTO_NEEDS_DATA("uci/wdbc.data");
  const std::string folder =
      std::filesystem::path(shared_data("uci/wdbc.data")).parent_path().string();
  const TempDir dir;
  const auto copied = sotto({"data fetch wdbc --out", dir.file("a"), "--mirror", folder, "--json"});
  ASSERT_EQ(copied.code, 0) << copied.err;
  EXPECT_EQ(nlohmann::json::parse(copied.out)["files"][0]["bytes"], 124103);
  const LocalServer server(folder);
  if (!server.runs()) GTEST_SKIP() << "python3 or curl is not installed";
  const Words arguments = {"data fetch wdbc --out", dir.file("b"), "--mirror", server.address()};
  const auto fetched = sotto(arguments);
  ASSERT_EQ(fetched.code, 0) << fetched.err;
  EXPECT_THAT(fetched.out, HasSubstr("wdbc.data: 124103 bytes, fetched, checked"));
  EXPECT_EQ(TempDir::read(dir.file("a/wdbc.data")), TempDir::read(dir.file("b/wdbc.data")));
  EXPECT_THAT(sotto(arguments).out, HasSubstr("there already"));
}

}  // namespace
}  // namespace sotto::testing
