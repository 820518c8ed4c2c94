// A model as a C header, compiled by a C compiler and compared with `sotto predict`.

#include <gmock/gmock.h>

#include "sotto/data/io/numbers.hpp"
#include "sotto/model/deploy/c_encoding.hpp"
#include "sotto/model/deploy/c_text.hpp"
#include "sotto/model/deploy/decimal_edge.hpp"
#include "tests/deploy/support.hpp"

namespace sotto::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCompile =
    "cc -std=c99 -Wall -Wextra -Wshadow -Wconversion -Werror -pedantic -O1 -o ";

bool has_c_compiler() { return std::system("cc --version >/dev/null 2>&1") == 0; }

/// Compiles and runs a program of these headers' folder; its output.
std::string run_c(const TempDir& dir, const std::string& code) {
  const std::string program = dir.file("program");
  const std::string source = dir.write("program.c", code);
  const auto compiled = in_a_shell([&](const std::string& to) {
    return kCompile + in_quotes(program) + " " + in_quotes(source) + " -lm" + to;
  });
  EXPECT_EQ(compiled.code, 0) << compiled.err.substr(0, 4000);
  const auto ran = in_a_shell([&](const std::string& to) { return in_quotes(program) + to; });
  EXPECT_EQ(ran.code, 0);
  return ran.out;
}

/// As a C initializer.
std::string c_value(const nlohmann::json& value, bool text) {
  if (value.is_null()) return text ? "NULL" : "NAN";
  return text ? deploy::c_string(value.get<std::string>()) : fmt::format("{}", value.get<double>());
}

std::string program_of(const DeployedModel& deployed, bool probabilities) {
  std::string code = "#include <stdio.h>\n#include \"risk.h\"\nstatic const risk_row rows[] = {\n";
  for (const auto& row : typed_rows(deployed.rows())) {
    code += "  {";
    for (std::size_t j = 0; j < row.size(); ++j)
      code += c_value(row[j], HostileRows::is_text(j)) + ", ";
    code += "},\n";
  }
  code +=
      "};\nint main(void) {\n  size_t i;\n"
      "  for (i = 0; i < sizeof rows / sizeof *rows; ++i) {\n";
  const std::size_t classes = deployed.classes() ? deployed.class_count() : 0;
  if (probabilities)
    code += fmt::format(
        "    double p[{0}];\n    int k;\n    risk_probabilities(&rows[i], p);\n"
        "    for (k = 0; k < {0}; ++k) printf(\"%.17g\\t\", p[k]);\n",
        classes);
  else if (classes > 0)
    code += "    printf(\"%.17g\\t\", risk_score(&rows[i]));\n";
  code += classes > 0 ? "    puts(risk_class(&rows[i]));\n"
                      : "    printf(\"%.17g\\n\", risk_prediction(&rows[i]));\n";
  return code + "  }\n  return 0;\n}\n";
}

class CHeader : public ::testing::TestWithParam<std::size_t> {};

TEST_P(CHeader, GivesWhatPredictGives) {
  if (!has_c_compiler()) GTEST_SKIP() << "there is no C compiler (cc)";
  const DeployCase which = deploy_cases()[GetParam()];
  const DeployedModel deployed(which);
  const auto exported = sotto({"export", deployed.model(), deployed.file("risk.h")});
  ASSERT_EQ(exported.code, 0) << exported.err;
  const std::string found = run_c(deployed.dir(), program_of(deployed, which.probabilities));
  expect_same(answers_in(found, deployed.classes()),
              deployed.expected(),
              deployed.tolerance(1e-11),
              deployed.classes());
}

INSTANTIATE_TEST_SUITE_P(All,
                         CHeader,
                         ::testing::Range<std::size_t>(0, deploy_cases().size()),
                         case_name);

// A header that leaves out one rounding to float32, or one clamp, is another model.
TEST(CHeaders, TheComparisonSeesABrokenTwin) {
  if (!has_c_compiler()) GTEST_SKIP() << "there is no C compiler (cc)";
  const DeployedModel deployed(deploy_cases()[0]);
  ASSERT_EQ(sotto({"export", deployed.model(), deployed.file("risk.h")}).code, 0);
  const std::string header = TempDir::read(deployed.file("risk.h"));
  const std::string program = program_of(deployed, true);
  const auto sound = answers_in(run_c(deployed.dir(), program), true);
  for (const char* part : {"(double)(float)", "if (v > 120.0) v = 120.0;"}) {
    std::string twin = header;
    ASSERT_NE(twin.find(part), twin.npos);
    deployed.dir().write("risk.h", twin.erase(twin.find(part), std::string(part).size()));
    const auto broken = answers_in(run_c(deployed.dir(), program), true);
    double largest = 0;
    for (std::size_t i = 0; i < sound.size(); ++i)
      largest = std::max(largest, std::abs(broken[i].numbers[1] / sound[i].numbers[1] - 1));
    EXPECT_GT(largest, 1e-10) << part;
  }
}

// What predict refuses has no answer.
TEST(CHeaders, RowsThatDoNotFitHaveNoAnswer) {
  if (!has_c_compiler()) GTEST_SKIP() << "there is no C compiler (cc)";
  const DeployedModel deployed(deploy_cases()[0]);
  ASSERT_EQ(sotto({"export", deployed.model(), deployed.file("risk.h")}).code, 0);
  const std::string row = "{30, 1, 100, 0.2, \"a\", NULL, 0, 0, 1}";
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = row;
    return changed.replace(changed.find(from), from.size(), to);
  };
  std::string code = "#include <stdio.h>\n#include \"risk.h\"\nint main(void) {\n  double p[2];\n";
  const std::vector<std::string> all = {row,
                                        with("0.2", "NAN"),
                                        with("0.2", "999"),
                                        with("30", "INFINITY"),
                                        with("100", "-INFINITY"),
                                        with("0, 0, 1", "0, 1, 1"),
                                        with("0, 0, 1", "0, 0, 2"),
                                        with("0, 0, 1", "0, 0, NAN"),
                                        with("30", "NAN")};
  for (const std::string& each : all)
    code += "  {\n    const risk_row row = " + each +
            ";\n    risk_probabilities(&row, p);\n"
            "    printf(\"%d %d\", risk_class(&row) != NULL, p[0] + p[1] == 1.0);\n  }\n";
  EXPECT_EQ(run_c(deployed.dir(), code + "  return 0;\n}\n"), "1 10 00 00 00 00 00 00 01 1");
}

// Headers are included by C++ programs, too, and two of them by one.
TEST(CHeaders, AreCPlusPlusAndStandBesideOthers) {
  const DeployedModel deployed(deploy_cases()[5]);
  for (const char* name : {"one.h", "2 and more.h"})
    ASSERT_EQ(sotto({"export", deployed.model(), deployed.file(name)}).code, 0);
  ASSERT_EQ(sotto({"export --format c --name class", deployed.model(), deployed.file("3")}).code,
            0);
  const std::string source = deployed.dir().write(
      "both.cpp",
      "#include \"one.h\"\n#include \"2 and more.h\"\n#include \"3\"\nint main() {\n"
      "  one_row row = {};\n  x2_and_more_row other = {};\n  class_column_row third = {};\n"
      "  return one_class(&row) || x2_and_more_class(&other) || class_column_class(&third);\n}\n");
  const auto compiled = in_a_shell([&](const std::string& to) {
    return "c++ -std=c++11 -Wall -Wextra -Werror -pedantic -fsyntax-only " + in_quotes(source) + to;
  });
  EXPECT_EQ(compiled.code, 0) << compiled.err.substr(0, 4000);
}

TEST(CHeaders, ModelsWithoutASchemaTakeFeatures) {
  if (!has_c_compiler()) GTEST_SKIP() << "there is no C compiler (cc)";
  const TempDir dir;
  const std::string rows = dir.write("rows.svm", small_libsvm());
  const std::string model = dir.file("model.json");
  ASSERT_EQ(sotto({"train --method gd --dim 2 --row-norm 0.75", rows, model}).code, 0);
  ASSERT_EQ(sotto({"export", model, dir.file("m.h")}).code, 0);
  std::string code =
      "#include <stdio.h>\n#include \"m.h\"\nint main(void) {\n  double x[2], p[2];\n"
      "  while (scanf(\"%lf%lf\", &x[0], &x[1]) == 2) {\n    m_probabilities(x, p);\n"
      "    printf(\"%.17g\\t%.17g\\t%s\\n\", p[0], p[1], m_class(x));\n  }\n  return 0;\n}\n";
  const auto expected = predicted_answers(rows, model, true);
  // The numbers of the rows, through standard input.
  std::string numbers;
  for (const std::string& line : lines_of(TempDir::read(rows)))
    numbers += (line[0] == '+' ? "0.8 " : "-0.7 ") + line.substr(line.rfind(':') + 1) + "\n";
  dir.write("numbers", numbers);
  const std::string program = dir.file("program");
  run_c(dir,
        code.replace(code.find("  while"),
                     0,
                     "  if (!freopen(\"" + dir.file("numbers") + "\", \"r\", stdin)) return 1;\n"));
  const auto ran = in_a_shell([&](const std::string& to) { return in_quotes(program) + to; });
  expect_same(answers_in(ran.out, true), expected, 1e-11, true);
}

TEST(CHeaders, CommentsAndNamesDoNotGetOut) {
  EXPECT_EQ(deploy::c_comment("a*/b/*c\nd?\?/"), "a* /b/ *c\\x0ad? ?/");
  EXPECT_EQ(deploy::c_string("?\?/\"\\\n\xc3"), R"("\?\?/\"\\\012\303")");
  deploy::CNames names;
  EXPECT_EQ(names("Age (years)"), "age_years");
  EXPECT_EQ(names("age years"), "age_years_2");
  EXPECT_EQ(names("int"), "int_column");
  EXPECT_EQ(names("__x__"), "x");
  EXPECT_EQ(names("7"), "x7");
  EXPECT_EQ(names(""), "x_2");
  EXPECT_EQ(names("ä"), "x_3");
  const DeployedModel deployed(deploy_cases()[0]);
  auto forged = nlohmann::json::parse(TempDir::read(deployed.model()));
  forged["method"] = "dp\n*/ int evil; /*";
  forged["privacy"]["events"] = "gaussian(1) */ int evil; /*";
  const std::string file = deployed.dir().write("forged.json", forged.dump());
  ASSERT_EQ(sotto({"export", file, deployed.file("forged.h")}).code, 0);
  const std::string header = TempDir::read(deployed.file("forged.h"));
  EXPECT_EQ(header.find("*/ int evil"), header.npos);
  EXPECT_THAT(header, HasSubstr("sotto.privacy {"));
}

TEST(CHeaders, EncodeEveryFormOfColumn) {
  if (!has_c_compiler()) GTEST_SKIP() << "there is no C compiler (cc)";
  const Encoding encoding = every_form(/*with_date=*/true);
  const auto choices = form_fields();
  std::mt19937 random(3);
  std::string code =
      "#include <float.h>\n#include <math.h>\n#include <stdio.h>\n"
      "#include <string.h>\n" +
      deploy::c_encoding(encoding, "some") + "static const some_row rows[] = {\n";
  std::string expected;
  constexpr int kRows = 500;
  int refused = 0;
  for (int i = 0; i < kRows; ++i) {
    std::vector<Field> fields;
    std::string line;
    for (std::size_t j = 0; j < choices.size(); ++j) {
      const Field& field = choices[j][random() % choices[j].size()];
      fields.push_back(field);
      const bool text = j >= 3;
      line += !field                  ? (text ? "NULL" : "NAN")
              : text || *field == "?" ? (text ? deploy::c_string(*field) : "NAN")
                                      : *field;
      line += ", ";
    }
    code += "  {" + line + "},\n";
    const auto x = reference_features(encoding, fields);
    if (!x) {
      expected += "refused\n";
      ++refused;
      continue;
    }
    for (const double each : *x) expected += fmt::format("{:.9g} ", each);
    expected += "\n";
  }
  EXPECT_GT(refused, kRows / 10);
  EXPECT_LT(refused, kRows * 9 / 10);
  code += fmt::format(
      "}};\nint main(void) {{\n  size_t i;\n  int k;\n  double x[{0}];\n"
      "  for (i = 0; i < sizeof rows / sizeof *rows; ++i) {{\n"
      "    if (!some_encode(&rows[i], x)) {{\n      puts(\"refused\");\n      continue;\n    }}\n"
      "    for (k = 0; k < {0}; ++k) printf(\"%.9g \", x[k]);\n    puts(\"\");\n  }}\n"
      "  return 0;\n}}\n",
      encoding.features);
  const TempDir dir;
  const auto found = lines_of(run_c(dir, code));
  const auto wanted = lines_of(expected);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], wanted[i]) << i;
}

/// Texts near the edges of ranges, and numbers that a double can't tell or can't hold.
TEST(CHeaders, ReadNumbersInTextsAsPredictDoes) {
  if (!has_c_compiler()) GTEST_SKIP() << "there is no C compiler (cc)";
  Schema schema;
  Schema::Column code;
  code.name = "code";
  code.kind = Schema::Kind::kCategorical;
  code.values = {{"a"}, {"b"}, {"c"}, {"d"}, {"e"}, {"f"}};
  const double most = std::numeric_limits<double>::max();
  const double least = std::numeric_limits<double>::denorm_min();
  const std::vector<double> edges = {0,
                                     1,
                                     -1,
                                     0.1,
                                     256,
                                     -1000,
                                     1e22,
                                     4503599627370497.5,
                                     1e-300,
                                     least,
                                     2.2250738585072014e-308,
                                     most};
  code.ranges = {
      {0, 0, 0}, {1, -1, -0.1}, {2, least, 0.1}, {3, 1, 256}, {4, -2000, -1000}, {5, 1e22, most}};
  code.other = true;
  schema.columns = {code};
  const Encoding encoding = encoding_of(schema);
  std::vector<std::string> texts = {"0e400",
                                    "-0e-400",
                                    "0e99999999999999999999",
                                    "1e400",
                                    "-1e400",
                                    "1e-400",
                                    "1e99999999999999999999",
                                    "-0.9999999999999999",
                                    "-0.99999999999999999999",
                                    "-1000.0000000000001",
                                    "-1000.00000000000001",
                                    "-999.99999999999999999",
                                    "0." + std::string(400, '0') + "1e401",
                                    "1" + std::string(400, '0') + "e-400",
                                    std::string(400, '0') + "256." + std::string(400, '0'),
                                    "1.7976931348623158e308",
                                    "1.7976931348623159e308",
                                    "+1",
                                    "1.",
                                    ".1",
                                    ".",
                                    "",
                                    "+",
                                    "1e",
                                    "1e+",
                                    "e1",
                                    "1..",
                                    "--1",
                                    "+-1",
                                    "0x10",
                                    "nan",
                                    "inf",
                                    "1 ",
                                    " 1",
                                    "1e5.0"};
  for (const double edge : edges)
    for (const double other :
         {edge, std::nextafter(edge, INFINITY), std::nextafter(edge, -INFINITY)}) {
      if (!std::isfinite(other)) continue;
      texts.push_back(fmt::format("{}", other));
      // Halfway to the next one, to the last digit, and a bit less and more.
      for (const auto& between : {deploy::edge_below(other), deploy::edge_above(other)}) {
        const std::string sign = between.sign < 0 ? "-" : "";
        for (const std::string& digits : {between.digits, between.digits + "1", [&] {
                                            std::string less = between.digits + "9";
                                            --less[less.size() - 2];
                                            return less;
                                          }()})
          texts.push_back(fmt::format("{}.{}e{}", sign, digits, between.point));
      }
    }
  std::string program =
      "#include <float.h>\n#include <math.h>\n#include <stdio.h>\n"
      "#include <string.h>\n" +
      deploy::c_encoding(encoding, "some") +
      "int main(void) {\n  some_row row;\n  double x[7];\n  int k;\n";
  std::string expected;
  for (const std::string& text : texts) {
    double value = 0;
    const char* end = text.data() + text.size();
    const bool number = !text.empty() && parse_number(text.data(), end, value) == end;
    std::size_t place = 6;
    for (auto range = code.ranges.rbegin(); range != code.ranges.rend(); ++range)
      if (number && value >= range->low && value <= range->high) place = range->value;
    expected += fmt::format("{} {}\n", place, text);
    program += "  row.code = " + deploy::c_string(text) +
               ";\n  some_encode(&row, x);\n  for (k = 0; x[k] != 1.0;) ++k;\n"
               "  printf(\"%d %s\\n\", k, row.code);\n";
  }
  const TempDir dir;
  const auto found = lines_of(run_c(dir, program + "  return 0;\n}\n"));
  const auto wanted = lines_of(expected);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], wanted[i]);
}

// What a JSON parser reads in a comment is what the statement says.
TEST(CHeaders, FactsStayJson) {
  const DeployedModel deployed(deploy_cases()[0]);
  auto forged = nlohmann::json::parse(TempDir::read(deployed.model()));
  const auto names = nlohmann::json::array({"n/*b*/c?\?/*", "\"y\\ */"});
  forged["class_names"] = names;
  const std::string file = deployed.dir().write("forged.json", forged.dump());
  for (const char* output : {"f.h", "f.sql"}) {
    const auto run = sotto({"export", file, deployed.file(output)});
    ASSERT_EQ(run.code, 0) << run.err;
    bool is_told = false;
    for (const std::string& line : lines_of(TempDir::read(deployed.file(output)))) {
      const auto begin = line.find(" [");
      if (line.find("sotto.class_names") == line.npos || begin == line.npos) continue;
      is_told = true;
      EXPECT_EQ(nlohmann::json::parse(line.substr(begin), nullptr, false), names) << line;
    }
    EXPECT_TRUE(is_told) << TempDir::read(deployed.file(output)).substr(0, 3000);
  }
}

}  // namespace
}  // namespace sotto::testing
