#include "sotto/data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sotto/data/io/numbers.hpp"

namespace sotto {
namespace {

constexpr std::size_t kMaxClasses = 1000;
constexpr float kMaxWhole = 16777216;  // 2^24: floats hold all whole numbers up to here

/// The different labels in increasing order; gives up beyond `limit`.
std::vector<float> distinct(std::span<const float> labels, std::size_t limit) {
  std::vector<float> found;
  float last = NAN;
  for (const float label : labels) {
    if (label == last) continue;
    last = label;
    const auto place = std::lower_bound(found.begin(), found.end(), label);
    if (place != found.end() && *place == label) continue;
    found.insert(place, label);
    if (found.size() > limit) break;
  }
  return found;
}

Expected<std::vector<float>> numbers_of(const std::vector<std::string>& names) {
  std::vector<float> classes;
  for (const std::string& name : names) {
    double value = 0;
    const char* end = name.data() + name.size();
    if (parse_number(name.data(), end, value) != end || !fits_float(value))
      return fail(
          ErrorKind::kUsage,
          fmt::format("class '{}' must be a number: labels in this format are numbers. Give "
                      "the classes as they stand in the file, for example -1 and 1.",
                      name));
    const auto label = static_cast<float>(value);
    if (std::find(classes.begin(), classes.end(), label) != classes.end())
      return fail(ErrorKind::kUsage, fmt::format("class '{}' is declared twice.", name));
    classes.push_back(label);
  }
  return classes;
}

Expected<std::vector<float>> classes_from_file(std::span<const float> labels,
                                               bool binary,
                                               const std::string& path) {
  const auto bad = [&](const char* text) {
    return fail(ErrorKind::kBadData, fmt::format("{}: {}", path, text));
  };
  std::vector<float> classes = distinct(labels, binary ? 2 : kMaxClasses);
  if (binary && classes.size() > 2)
    return bad(
        "the labels are not two classes, but more. A binary loss needs exactly two different "
        "labels; use ‘loss multinomial’ for several classes, a loss for numbers, or change the "
        "labels.");
  if (classes.size() < 2)
    return bad(
        "the labels are not two classes, but only one. A classifier needs rows of at least "
        "two classes; if the rows of this file happen to share one, declare the classes.");
  if (classes.size() > kMaxClasses)
    return bad(
        "the labels have more than 1000 different values. Class labels are whole numbers; "
        "for a numeric label use a regression loss.");
  if (!binary) {
    for (const float label : classes)
      if (label != std::nearbyint(label) || std::abs(label) > kMaxWhole)
        return bad(
            "the labels are not whole numbers, but classes must be (up to 2^24). For a "
            "numeric label use a regression loss.");
  }
  return classes;
}

}  // namespace

Expected<void> check_options(const ReadOptions& options) {
  // Far outside these limits scaled rows would leave the range of float32.
  if (options.row_norm != 0 && !(options.row_norm >= 1e-30 && options.row_norm <= 1e30))
    return fail(ErrorKind::kUsage,
                fmt::format("row_norm must be finite and > 0 (1e-30 to 1e30), but is {}. Set "
                            "‘row_norm’ to the largest row norm to keep, for example 1.",
                            options.row_norm));
  if (options.most_rows < 0)
    return fail(ErrorKind::kUsage,
                fmt::format("‘most_rows’ must be at least 1, but is {}.", options.most_rows));
  if (options.labels == LabelKind::kBinary && !options.classes.empty() &&
      options.classes.size() != 2)
    return fail(ErrorKind::kUsage,
                fmt::format("a binary loss needs 2 classes, but {} are declared. Give the negative "
                            "and the positive one, or use ‘loss multinomial’ for more.",
                            options.classes.size()));
  return {};
}

tl::unexpected<Error> no_persons() {
  return fail(ErrorKind::kUsage,
              "‘most_rows’ counts the rows of a person, but nothing declares persons. Declare a "
              "column of kind \"unit\" in the ‘schema’ of a CSV file, or leave ‘most_rows’ out.");
}

Expected<void> check_dim(const ReadOptions& options, std::int64_t dim, const std::string& path) {
  if (options.dim == 0 || options.dim == dim) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("{}: the rows have {} features, as a header or schema says, but ‘dim’ is "
                          "{}. Leave out ‘dim’.",
                          path,
                          dim,
                          options.dim));
}

Expected<LabelMap> LabelMap::make(const ReadOptions& options,
                                  const std::vector<std::string>& convention,
                                  const std::string& path) {
  LabelMap map;
  map.labels_ = options.labels;
  map.path_ = path;
  map.misfit_ = "the label is not a finite number";
  if (options.labels == LabelKind::kReal) return map;
  map.names_ = options.classes.empty() ? convention : options.classes;
  SOTTO_ASSIGN(map.classes_, numbers_of(map.names_));
  if (!map.names_.empty()) {
    if (map.names_.size() < 2)
      return fail(ErrorKind::kUsage, "a classifier needs at least two classes, but 1 is declared.");
    constexpr std::size_t kListed = 10;
    map.misfit_ = fmt::format(
        "the label is not one of the declared classes ({}{}). Declare all classes with ‘classes’",
        fmt::join(
            map.names_.begin(),
            map.names_.begin() + static_cast<std::ptrdiff_t>(std::min(kListed, map.names_.size())),
            ", "),
        map.names_.size() > kListed ? ", …" : "");
    return map;
  }
  map.from_rows_ = options.public_rows;
  if (map.from_rows_) return map;
  return fail(
      ErrorKind::kUsage,
      fmt::format("{}: the classes must be declared. Taken from the rows they would tell about "
                  "them. Give ‘classes’, {}.",
                  path,
                  options.labels == LabelKind::kBinary
                      ? "the negative one first, for example ‘classes 0,1’"
                      : "for example ‘classes 0,1,2’ or ‘classes 0..9’"));
}

std::optional<float> LabelMap::operator()(double label) const {
  if (!fits_float(label)) return std::nullopt;
  const auto value = static_cast<float>(label);
  if (classes_.empty()) return value;
  const auto place = std::find(classes_.begin(), classes_.end(), value);
  if (place == classes_.end()) return std::nullopt;
  const auto position = static_cast<float>(place - classes_.begin());
  return labels_ == LabelKind::kBinary ? 2 * position - 1 : position;
}

Expected<std::vector<std::string>> LabelMap::finish(std::span<float> labels,
                                                    std::vector<std::string>& notes) const {
  if (!from_rows_) return names_;
  const bool binary = labels_ == LabelKind::kBinary;
  SOTTO_ASSIGN(const std::vector<float> classes, classes_from_file(labels, binary, path_));
  for (float& label : labels) {
    const auto place = std::lower_bound(classes.begin(), classes.end(), label);
    const auto position = static_cast<float>(place - classes.begin());
    label = binary ? 2 * position - 1 : position;
  }
  std::vector<std::string> names;
  for (const float label : classes) names.push_back(fmt::format("{}", label));
  notes.push_back(fmt::format("classes {} taken from {}, whose rows are treated as public.",
                              fmt::join(names, ", "),
                              path_));
  return names;
}

}  // namespace sotto
