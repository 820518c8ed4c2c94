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

Expected<std::vector<float>> declared_classes(const std::vector<std::string>& names) {
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
    classes.push_back(static_cast<float>(value));
  }
  return classes;
}

Expected<std::vector<float>> classes_from_file(std::span<const float> labels,
                                               const ReadOptions& options,
                                               const std::string& path) {
  const bool binary = options.labels == LabelKind::kBinary;
  const auto bad = [&](const char* text) {
    return fail(ErrorKind::kBadData, fmt::format("{}: {}", path, text));
  };
  std::vector<float> classes = distinct(labels, binary ? 2 : kMaxClasses);
  if (binary && classes.size() > 2)
    return bad(
        "the labels are not two classes, but more. A binary loss needs exactly two different "
        "labels; use a loss for several classes or for numbers, or change the labels.");
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
  if (!(options.row_norm >= 0) || !std::isfinite(options.row_norm))
    return fail(ErrorKind::kUsage,
                fmt::format("row_norm must be finite and > 0, but is {}. Set --row-norm to the "
                            "largest row norm to keep, for example 1.",
                            options.row_norm));
  if (options.labels == LabelKind::kBinary && !options.classes.empty() &&
      options.classes.size() != 2)
    return fail(ErrorKind::kUsage,
                fmt::format("a binary loss needs 2 classes, but {} are declared. Give the negative "
                            "and the positive one.",
                            options.classes.size()));
  return {};
}

Expected<std::vector<std::string>> map_labels(std::span<float> labels,
                                              const ReadOptions& options,
                                              const std::string& path,
                                              std::vector<std::string>& notes) {
  if (options.labels == LabelKind::kReal) return std::vector<std::string>{};
  const bool declared = !options.classes.empty();
  SOTTO_ASSIGN(
      const std::vector<float> classes,
      declared ? declared_classes(options.classes) : classes_from_file(labels, options, path));
  const bool binary = options.labels == LabelKind::kBinary;
  for (float& label : labels) {
    const auto place = std::find(classes.begin(), classes.end(), label);
    if (place == classes.end())
      return fail(ErrorKind::kBadData,
                  fmt::format("{}: the labels are not all among the declared classes ({}). Declare "
                              "every class or change the labels.",
                              path,
                              fmt::join(options.classes, ", ")));
    const auto position = static_cast<float>(place - classes.begin());
    label = binary ? 2 * position - 1 : position;
  }
  if (declared) return options.classes;
  std::vector<std::string> names;
  for (const float label : classes) names.push_back(fmt::format("{}", label));
  notes.push_back(fmt::format("classes {} taken from {}: which labels exist is treated as public.",
                              fmt::join(names, ", "),
                              path));
  return names;
}

}  // namespace sotto
