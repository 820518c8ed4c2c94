#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

/// One option as users see it; `sotto methods NAME`, the docs and later the Python signatures are
/// made from it.
struct OptionInfo {
  std::string name;           ///< snake_case; `--step-size` on the command line
  std::string type;           ///< integer, number, or the list of words
  std::string default_value;  ///< `auto` if it follows from public facts
  std::string meaning;
};

/// A setting of a run and where it came from.
struct Setting {
  std::string name;
  std::string value;
  std::string origin;  ///< `given`, `default`, or `rule: …` (from public facts)
};

/// `step_size` as users write it: `--step-size`.
inline std::string dashed(std::string_view name) {
  std::string text = "--" + std::string(name);
  for (char& c : text)
    if (c == '_') c = '-';
  return text;
}

using GivenOptions = std::vector<std::pair<std::string, std::string>>;

/// Ties the fields of a plain Options struct to names, texts and parsers.
template <class Options>
class OptionTable {
 public:
  OptionTable& integer(std::string name,
                       std::optional<std::int64_t> Options::*field,
                       std::string meaning) {
    return add(std::move(name), "integer", std::move(meaning), field, parse_number<std::int64_t>);
  }
  OptionTable& integer(std::string name, std::int64_t Options::*field, std::string meaning) {
    return add(std::move(name), "integer", std::move(meaning), field, parse_number<std::int64_t>);
  }
  OptionTable& number(std::string name,
                      std::optional<double> Options::*field,
                      std::string meaning) {
    return add(std::move(name), "number", std::move(meaning), field, parse_number<double>);
  }
  OptionTable& number(std::string name, double Options::*field, std::string meaning) {
    return add(std::move(name), "number", std::move(meaning), field, parse_number<double>);
  }
  /// One of a list of words.
  OptionTable& word(std::string name,
                    std::string Options::*field,
                    std::vector<std::string> words,
                    std::string meaning) {
    std::string type;
    for (const auto& each : words) type += (type.empty() ? "" : "|") + each;
    auto read = [words, type](std::string_view text) -> Expected<std::string> {
      for (const auto& each : words)
        if (each == text) return each;
      return fail(ErrorKind::kUsage, fmt::format("must be one of {}", type));
    };
    return add(std::move(name), type, std::move(meaning), field, read);
  }

  std::vector<OptionInfo> infos() const {
    std::vector<OptionInfo> infos;
    for (const auto& entry : entries_) {
      infos.push_back(entry.info);
      infos.back().default_value = entry.show(Options{}).value_or("auto");
    }
    return infos;
  }

  bool knows(std::string_view name) const { return find(name) != nullptr; }

  /// Options{} with the given texts parsed in.
  Expected<Options> parse(const GivenOptions& given) const {
    Options options;
    for (const auto& [name, text] : given) {
      const Entry* entry = find(name);
      if (!entry) return unknown(name);
      if (auto set = entry->set(options, text); !set)
        return fail(ErrorKind::kUsage,
                    fmt::format("{} {}, but is '{}'.", dashed(name), set.error().message, text));
    }
    return options;
  }

  /// Every option's value, and whether it was given, a default, or chosen by `rule` (where `before`
  /// had none, or another one, e.g. `auto`).
  std::vector<Setting> settings(const Options& before,
                                const Options& resolved,
                                const GivenOptions& given) const {
    std::vector<Setting> settings;
    for (const auto& entry : entries_) {
      bool was_given = false;
      for (const auto& [name, text] : given) was_given = was_given || name == entry.info.name;
      const auto asked = entry.show(before);
      const auto value = entry.show(resolved);
      const bool unchanged = asked && asked == value;
      settings.push_back({entry.info.name,
                          value.value_or("none"),
                          was_given   ? "given"
                          : unchanged ? "default"
                                      : "rule"});
    }
    return settings;
  }

 private:
  struct Entry {
    OptionInfo info;
    std::function<Expected<void>(Options&, std::string_view)> set;
    std::function<std::optional<std::string>(const Options&)> show;
  };

  template <class T>
  static Expected<T> parse_number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
      return fail(ErrorKind::kUsage,
                  std::is_integral_v<T> ? "must be a whole number" : "must be a number");
    return value;
  }

  template <class T>
  static std::optional<std::string> text_of(const T& value) {
    return fmt::format("{}", value);
  }
  template <class T>
  static std::optional<std::string> text_of(const std::optional<T>& value) {
    return value ? text_of(*value) : std::nullopt;
  }

  template <class Field, class Parse>
  OptionTable& add(
      std::string name, std::string type, std::string meaning, Field Options::*field, Parse read) {
    Entry entry;
    entry.info = {std::move(name), std::move(type), "", std::move(meaning)};
    entry.set = [field, read](Options& options, std::string_view text) -> Expected<void> {
      auto value = read(text);
      if (!value) return tl::unexpected<Error>(std::move(value).error());
      options.*field = *std::move(value);
      return {};
    };
    entry.show = [field](const Options& options) { return text_of(options.*field); };
    entries_.push_back(std::move(entry));
    return *this;
  }

  tl::unexpected<Error> unknown(std::string_view name) const {
    std::string known;
    for (const auto& entry : entries_) {
      if (!known.empty()) known += ", ";
      known += dashed(entry.info.name);
    }
    return fail(ErrorKind::kUsage,
                fmt::format("this method has no option {}. It has {}.", dashed(name), known));
  }

  const Entry* find(std::string_view name) const {
    for (const auto& entry : entries_)
      if (entry.info.name == name) return &entry;
    return nullptr;
  }

  std::vector<Entry> entries_;
};

}  // namespace sotto
