#include "sotto/optimizer/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/check.hpp"
#include "sotto/core/nearest.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/option_names.hpp"

namespace sotto {
namespace {

using Range = std::pair<RangeEnd, RangeEnd>;

bool contains(const Range& range, double value) {
  const auto& [low, high] = range;
  return (low.open ? value > low.value : value >= low.value) &&
         (high.open ? value < high.value : value <= high.value);
}

/// `100,000,000`, but `1000`.
std::string grouped(double value) {
  std::string text = fmt::format("{}", value);
  if (!(std::abs(value) >= 10'000 && value == std::floor(value) && std::abs(value) < 1e15))
    return text;
  text = fmt::format("{:.0f}", value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string rule_of(const Range& range, bool whole) {
  const auto& [low, high] = range;
  if (std::isinf(high.value))
    return high.open ? fmt::format("must be finite and {} {}", low.open ? ">" : ">=", low.value)
                     : "must be at least " + grouped(low.value);
  if (whole || (low.open && high.open))
    return fmt::format("must lie between {} and {}", grouped(low.value), grouped(high.value));
  return fmt::format("must lie in {}{}, {}{}",
                     low.open ? '(' : '[',
                     grouped(low.value),
                     grouped(high.value),
                     high.open ? ')' : ']');
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
}

}  // namespace

tl::unexpected<Error> refused(std::string_view option,
                              std::string_view rule,
                              std::string_view value) {
  return fail(ErrorKind::kUsage, fmt::format("{} {}, but is {}.", marked(option), rule, value));
}

void OptionList::add(std::string name, std::string meaning, Slot<std::int64_t> slot) {
  entries_.push_back({{std::move(name), "integer", "", std::move(meaning)}, std::move(slot)});
}

void OptionList::add(std::string name, std::string meaning, Slot<double> slot) {
  entries_.push_back({{std::move(name), "number", "", std::move(meaning)}, std::move(slot)});
}

void OptionList::add(std::string name, std::string meaning, Words words) {
  std::string type = joined(words.names, "|");
  entries_.push_back(
      {{std::move(name), std::move(type), "", std::move(meaning)}, std::move(words)});
}

void OptionList::limit_last(RangeEnd low, RangeEnd high) {
  SOTTO_CHECK(!entries_.empty() && !std::holds_alternative<Words>(entries_.back().field));
  entries_.back().range = {low, high};
}

namespace {

/// The value of an option's field as text; none if it is open.
const auto show = [](const auto& field, const void* options) -> std::optional<std::string> {
  if constexpr (requires { field.names; }) {
    const auto k = field.slot.load(options);
    return k ? std::optional(field.names[*k]) : std::nullopt;
  } else {
    const auto value = field.load(options);
    return value ? std::optional(fmt::format("{}", *value)) : std::nullopt;
  }
};

}  // namespace

std::vector<OptionInfo> OptionList::infos(const void* defaults) const {
  std::vector<OptionInfo> infos;
  for (const Entry& entry : entries_) {
    infos.push_back(entry.info);
    infos.back().default_value =
        std::visit([&](const auto& field) { return show(field, defaults); }, entry.field)
            .value_or("auto");
  }
  return infos;
}

Expected<void> OptionList::parse(const GivenOptions& given, void* options) const {
  for (const auto& [name, text] : given) {
    const Entry* entry = find(name);
    if (!entry) {
      std::vector<std::string> known;
      for (const Entry& each : entries_) known.push_back(marked(each.info.name));
      return fail(
          ErrorKind::kUsage,
          fmt::format(
              "this method has no option {}. It has {}.", marked(name), joined(known, ", ")));
    }
    const std::string quoted = "'" + text + "'";
    // Named anew: clang 14 captures no structured bindings.
    const auto set_number =
        [&, &name = name, &text = text]<class T>(const Slot<T>& slot) -> Expected<void> {
      constexpr bool kWhole = std::is_integral_v<T>;
      const auto value = number_in<T>(text);
      if (!value)
        return refused(name, kWhole ? "must be a whole number" : "must be a number", quoted);
      if (entry->range && !given.settled && !contains(*entry->range, static_cast<double>(*value)))
        return refused(name, rule_of(*entry->range, kWhole), fmt::format("{}", *value));
      slot.store(options, *value);
      return {};
    };
    if (const auto* words = std::get_if<Words>(&entry->field)) {
      const auto found = std::find(words->names.begin(), words->names.end(), text);
      if (found == words->names.end()) {
        auto refusal = refused(name, "must be one of " + entry->info.type, quoted);
        refusal.value().message += did_you_mean(text, words->names);
        return refusal;
      }
      words->slot.store(options, static_cast<std::size_t>(found - words->names.begin()));
    } else if (const auto* whole = std::get_if<Slot<std::int64_t>>(&entry->field)) {
      SOTTO_TRY(set_number(*whole));
    } else {
      SOTTO_TRY(set_number(std::get<Slot<double>>(entry->field)));
    }
  }
  return {};
}

std::vector<Setting> OptionList::settings(const void* before,
                                          const void* resolved,
                                          const GivenOptions& given) const {
  std::vector<Setting> settings;
  for (const Entry& entry : entries_) {
    const auto text = [&](const void* options) {
      return std::visit([&](const auto& field) { return show(field, options); }, entry.field);
    };
    const bool was_given = std::any_of(given.begin(), given.end(), [&](const auto& each) {
      return each.first == entry.info.name;
    });
    const auto asked = text(before);
    const auto value = text(resolved);
    settings.push_back({entry.info.name,
                        value.value_or("none"),
                        !asked || asked != value ? Origin::kRule  // `auto` may be given, too
                        : was_given              ? Origin::kGiven
                                                 : Origin::kDefault});
  }
  return settings;
}

const OptionList::Entry* OptionList::find(std::string_view name) const {
  for (const Entry& entry : entries_)
    if (entry.info.name == name) return &entry;
  return nullptr;
}

}  // namespace sotto
