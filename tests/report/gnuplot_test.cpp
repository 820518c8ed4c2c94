#include "sotto/report/gnuplot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sotto {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Chart kChart{"It's", "step", "y", true, {{"a_b", {{1, 2}, {2, 0}}, {{1, 3}, {0, 1}}}}};

TEST(Gnuplot, DrawsSeriesBandsAndGaps) {
  const auto script = gnuplot_script({kChart}, "out.svg");
  ASSERT_TRUE(script) << script.error().message;
  EXPECT_THAT(*script,
              AllOf(HasSubstr("set terminal svg"),
                    Not(HasSubstr("\nset output")),
                    HasSubstr("set title 'It''s' noenhanced"),
                    HasSubstr("set logscale y"),
                    HasSubstr("1 2 1 3\n2 NaN NaN 1\n"),
                    HasSubstr("with filledcurves"),
                    HasSubstr("title 'a_b' noenhanced"),
                    Not(HasSubstr("multiplot"))));
}

TEST(Gnuplot, PutsSeveralChartsIntoAGrid) {
  Chart plain = kChart;
  plain.log_y = false;
  plain.series.push_back({"budget", {{1, 1}, {2, 1}}});
  plain.series.back().dashed = true;
  const auto script = gnuplot_script({kChart, plain, kChart}, "it's.png");
  ASSERT_TRUE(script) << script.error().message;
  EXPECT_THAT(*script,
              AllOf(HasSubstr("set terminal pngcairo"),
                    HasSubstr("set multiplot layout 2,2"),
                    HasSubstr("unset logscale y"),
                    HasSubstr("dt 2")));
}

TEST(Gnuplot, RefusesOtherFilesAndNothing) {
  EXPECT_EQ(gnuplot_script({kChart}, "out.pdf").error().kind, ErrorKind::kUsage);
  EXPECT_THAT(gnuplot_script({kChart}, "out.pdf").error().message, HasSubstr("'out.pdf'"));
  EXPECT_THAT(gnuplot_script({{"t", "x", "y"}}, "out.svg").error().message,
              HasSubstr("nothing to plot"));
}

TEST(Gnuplot, AWholeDrawingHasItsEnd) {
  EXPECT_TRUE(is_whole_drawing("<svg>\n</svg>\n\n", "out.svg"));
  EXPECT_FALSE(is_whole_drawing("<svg>\n</sv", "out.svg"));
  EXPECT_FALSE(is_whole_drawing("", "out.svg"));
  const std::string png("\x89PNG\0\0\0\0IEND\xae\x42\x60\x82", 16);
  EXPECT_TRUE(is_whole_drawing(png, "out.png"));
  EXPECT_FALSE(is_whole_drawing(png.substr(0, 15), "out.png"));
  EXPECT_FALSE(is_whole_drawing(png, "out.svg"));
}

}  // namespace
}  // namespace sotto
