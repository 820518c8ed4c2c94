#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/run_words.hpp"

namespace sotto {

/// One option as users see it; `sotto methods NAME`, the docs and later the Python signatures are
/// made from it.
struct OptionInfo {
  std::string name;           ///< snake_case; each front end has its own way to write it
  std::string type;           ///< integer, number, or the list of words
  std::string default_value;  ///< `auto` if it follows from public facts
  std::string meaning;
};

struct GivenOptions : std::vector<std::pair<std::string, std::string>> {
  using vector::vector;
  GivenOptions() = default;
  GivenOptions(vector list) : vector(std::move(list)) {}  // NOLINT: names and values are options
  /// They are the settings of a run that was made: what a rule chose may lie outside of what a user
  /// may give, so that ranges are not looked at.
  bool settled = false;
};

/// An end of a range: the number itself belongs to it unless it is `above` or `below`.
struct RangeEnd {
  RangeEnd(double number, bool is_open = false) : value(number), open(is_open) {}
  double value;
  bool open;
};
inline RangeEnd above(double value) { return {value, true}; }
inline RangeEnd below(double value) { return {value, true}; }

/// A usage error: ‘steps’ must lie between 1 and 10, but is 11.
tl::unexpected<Error> refused(std::string_view option,
                              std::string_view rule,
                              std::string_view value);

/// What an OptionTable does whatever its struct is: fields are reached through `Slot`s.
class OptionList {
 public:
  bool knows(std::string_view name) const { return find(name) != nullptr; }

 protected:
  template <class T>
  struct Slot {
    std::function<void(void*, T)> store;
    std::function<std::optional<T>(const void*)> load;
  };
  struct Words {
    std::vector<std::string> names;
    Slot<std::size_t> slot;  ///< by number in `names`
  };
  struct Entry {
    OptionInfo info;
    std::variant<Slot<std::int64_t>, Slot<double>, Words> field;
    std::optional<std::pair<RangeEnd, RangeEnd>> range = {};
  };

  void add(std::string name, std::string meaning, Slot<std::int64_t> slot);
  void add(std::string name, std::string meaning, Slot<double> slot);
  void add(std::string name, std::string meaning, Words words);
  void limit_last(RangeEnd low, RangeEnd high);

  std::vector<OptionInfo> infos(const void* defaults) const;
  Expected<void> parse(const GivenOptions& given, void* options) const;
  std::vector<Setting> settings(const void* before,
                                const void* resolved,
                                const GivenOptions& given) const;

 private:
  const Entry* find(std::string_view name) const;

  std::vector<Entry> entries_;
};

/// Ties the fields of a plain Options struct to names, texts, ranges and words. A range belongs to
/// the option before it.
///
///   table.integer("steps", &O::steps, "number of steps T").range(1, 1000)
///       .number("momentum", &O::momentum, "heavy-ball momentum").range(0, below(1))
///       .choice("start", &O::start, {{Start::kZero, "zero"}, {Start::kCenter, "center"}}, "…");
template <class Options>
class OptionTable : public OptionList {
 public:
  template <class Field, class Base>
  OptionTable& integer(std::string name, Field Base::*field, std::string meaning) {
    add(std::move(name), std::move(meaning), slot<std::int64_t>(field));
    return *this;
  }
  template <class Field, class Base>
  OptionTable& number(std::string name, Field Base::*field, std::string meaning) {
    add(std::move(name), std::move(meaning), slot<double>(field));
    return *this;
  }
  /// One of some words, each a value of an enum (or of bool).
  template <class E, class Base, std::size_t N>
  OptionTable& choice(std::string name,
                      E Base::*field,
                      const Named<std::type_identity_t<E>> (&words)[N],
                      std::string meaning) {
    std::vector<E> values;
    Words all;
    for (const auto& each : words) {
      values.push_back(each.value);
      all.names.emplace_back(each.name);
    }
    all.slot.store = [field, values](void* options, std::size_t k) {
      static_cast<Options*>(options)->*field = values[k];
    };
    all.slot.load = [field, values](const void* options) -> std::optional<std::size_t> {
      for (std::size_t k = 0; k < values.size(); ++k)
        if (values[k] == static_cast<const Options*>(options)->*field) return k;
      return std::nullopt;
    };
    add(std::move(name), std::move(meaning), std::move(all));
    return *this;
  }

  OptionTable& range(RangeEnd low, RangeEnd high) {
    limit_last(low, high);
    return *this;
  }
  OptionTable& at_least(double low) { return range(low, kForever); }
  /// Finite and > 0.
  OptionTable& positive() { return range(above(0), below(kForever)); }

  std::vector<OptionInfo> infos() const {
    const Options defaults;
    return OptionList::infos(&defaults);
  }

  /// Options{} with the given texts parsed in, each within its range.
  Expected<Options> parse(const GivenOptions& given) const {
    Options options;
    SOTTO_TRY(OptionList::parse(given, &options));
    return options;
  }

  /// Every option's value, and whether it was given, a default, or chosen by a rule (where `before`
  /// had none, or another one, e.g. `auto`).
  std::vector<Setting> settings(const Options& before,
                                const Options& resolved,
                                const GivenOptions& given) const {
    return OptionList::settings(&before, &resolved, given);
  }

 private:
  static constexpr double kForever = std::numeric_limits<double>::infinity();

  template <class T, class Field, class Base>
  static Slot<T> slot(Field Base::*field) {
    // A field without a value stays open until a rule fills it.
    static_assert(std::is_same_v<Field, T> || std::is_same_v<Field, std::optional<T>>);
    return {[field](void* options, T value) { static_cast<Options*>(options)->*field = value; },
            [field](const void* options) -> std::optional<T> {
              return static_cast<const Options*>(options)->*field;
            }};
  }
};

}  // namespace sotto
