#include "sotto/geometry/constraint_set.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <vector>

#include "sotto/core/file.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

constexpr std::string_view kForms =
    "none, l2:RADIUS, l1:RADIUS, simplex or simplex:SUM, box:LOW,HIGH, linf:RADIUS, "
    "group-l1:RADIUS,SIZE or polytope:FILE";

tl::unexpected<Error> refuse(std::string_view text, std::string_view why) {
  return fail(ErrorKind::kUsage,
              fmt::format("the constraint '{}' {}. Set ‘constraint’ to {}.", text, why, kForms));
}

/// Larger ones have no squares.
constexpr double kLargestEntry = 1e60;
constexpr std::string_view kPolytope = "polytope:";

/// A bound of a box: a number, or inf or -inf.
std::optional<double> parse_bound(std::string_view text) {
  if (text == "inf" || text == "+inf") return kInfinity;
  if (text == "-inf") return -kInfinity;
  return finite_in(text);
}

Expected<ConstraintPtr> read_polytope(std::string_view text, const std::string& path) {
  SOTTO_ASSIGN(const std::string content, read_text_file(path));
  std::istringstream file(content);
  std::vector<std::vector<double>> rows;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::vector<double> row;
    const char* at = line.data();
    const char* end = at + line.size();
    while (true) {
      while (at != end && (*at == ' ' || *at == ',' || *at == '\t' || *at == '\r')) ++at;
      if (at == end) break;
      double value = 0;
      const auto [next, error] = std::from_chars(at, end, value);
      if (error != std::errc() || !(std::abs(value) <= kLargestEntry))
        return fail(
            ErrorKind::kBadData,
            fmt::format("{}:{}: a vertex is a line of numbers up to 1e60, separated by blanks or "
                        "commas.",
                        path,
                        number));
      row.push_back(value);
      at = next;
    }
    if (row.empty()) continue;
    if (!rows.empty() && row.size() != rows.front().size())
      return fail(ErrorKind::kBadData,
                  fmt::format("{}:{}: this vertex has {} coordinates, the first one {}.",
                              path,
                              number,
                              row.size(),
                              rows.front().size()));
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return refuse(text, "is empty: its file has no vertices");
  Matrix vertices(std::ssize(rows), std::ssize(rows.front()));
  for (Eigen::Index i = 0; i < vertices.rows(); ++i)
    for (Eigen::Index j = 0; j < vertices.cols(); ++j)
      vertices(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  return polytope(std::move(vertices), path);
}

}  // namespace

Expected<void> ConstraintSet::check(std::int64_t) const { return {}; }

std::vector<std::string> constraint_files(std::string_view text) {
  if (!text.starts_with(kPolytope)) return {};
  return {std::string(text.substr(kPolytope.size()))};
}

Expected<ConstraintPtr> parse_constraint(std::string_view text) {
  if (text == "none") return ConstraintPtr();
  if (text == "simplex") return simplex(1);
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  const auto rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (name == "polytope") {
    const auto files = constraint_files(text);
    if (files.empty() || files[0].empty()) return refuse(text, "needs the file of its vertices");
    return read_polytope(text, files[0]);
  }
  const auto comma = rest.find(',');
  const auto first = finite_in(rest.substr(0, comma));
  if (name == "l2" || name == "l1" || name == "linf" || name == "simplex") {
    if (!first || comma != std::string_view::npos) return refuse(text, "needs one finite number");
    if (*first < 0) return refuse(text, "is empty: its size is negative");
    if (*first == 0) return refuse(text, "has only one point; its size must be > 0");
    if (name == "l2") return l2_ball(*first);
    if (name == "l1") return l1_ball(*first);
    if (name == "linf") return box(-*first, *first);
    return simplex(*first);
  }
  if (name == "box") {
    const auto low = parse_bound(rest.substr(0, comma));
    const auto high =
        comma == std::string_view::npos ? std::nullopt : parse_bound(rest.substr(comma + 1));
    if (!low || !high) return refuse(text, "needs two numbers, LOW and HIGH");
    if (*low > *high || *low == kInfinity || *high == -kInfinity)
      return refuse(text, "is empty: LOW lies above HIGH");
    if (*low == *high) return refuse(text, "has only one point; LOW must lie below HIGH");
    return box(*low, *high);
  }
  if (name == "group-l1") {
    const auto size =
        comma == std::string_view::npos ? std::nullopt : finite_in(rest.substr(comma + 1));
    if (!first || !size || *size < 1 || *size != std::floor(*size) || *size > 0x1p40)
      return refuse(text, "needs a radius and a whole number >= 1, the size of a group");
    if (*first < 0) return refuse(text, "is empty: its radius is negative");
    if (*first == 0) return refuse(text, "has only one point; its radius must be > 0");
    return group_ball(*first, static_cast<std::int64_t>(*size));
  }
  return refuse(text, "is unknown");
}

}  // namespace sotto
