// A password that was typed is shown by no verb, whatever it was typed for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/predictions.hpp"

namespace sotto::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Passwords, AreShownByNoVerb) {
  const TempDir dir;
  const std::string rows = dir.write("t.csv", "1,1\n");
  for (const char* uri : {"postgresql://h/db?password=secret#t",
                          "postgresql://h/db?x=y&p%61ssWord=secret#t",
                          "postgres://h?sslpassword=secret",
                          "postgresql://u:secret@h/db?application_name=x#t",
                          "postgresql://u:secret@h/db?password=secret&x=y#t"})
    for (const Words& command : {Words{"verify", uri},
                                 Words{"show", uri},
                                 Words{"report", uri, dir.file("o.html")},
                                 Words{"export", uri, dir.file("o.onnx")},
                                 Words{"schema new", uri, dir.file("o.toml")},
                                 Words{"account --journal", uri},
                                 Words{"train --epsilon 1 --delta 1e-5", rows, uri},
                                 Words{"data info", uri},
                                 Words{"data fetch", uri},
                                 Words{"predict", rows, uri, "-"}}) {
      const auto run = sotto(command);
      EXPECT_NE(run.code, 0) << run.out;
      EXPECT_THAT(run.err + run.out, Not(HasSubstr("secret")));
    }
}

}  // namespace
}  // namespace sotto::testing
