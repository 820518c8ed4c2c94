#include "sotto/task/score_columns.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sotto/core/nearest.hpp"
#include "sotto/data/io/csv_splitter.hpp"
#include "sotto/model/evaluate.hpp"
#include "sotto/task/scoring.hpp"

namespace sotto {
namespace {

void append_number(std::string& line, double number) {
  std::array<char, 32> text;  // a double has at most 24 characters
  const char* end = fmt::format_to(text.data(), FMT_COMPILE("{}"), number);
  line.append(std::string_view(text.data(), end));
}

Expected<void> check_numbers(const ScoreOptions& options, bool probabilities) {
  if (options.threshold && options.flag_share)
    return fail(ErrorKind::kUsage,
                "‘threshold’ and ‘flag_share’ both say which rows are flagged. Give one of them.");
  if (options.threshold && !std::isfinite(*options.threshold))
    return fail(ErrorKind::kUsage, "‘threshold’ must be a finite number.");
  if (options.threshold && probabilities && (*options.threshold < 0 || *options.threshold > 1))
    return fail(
        ErrorKind::kUsage,
        fmt::format("‘threshold’ is a probability, from 0 to 1, but is {}.", *options.threshold));
  if (options.flag_share && !(*options.flag_share > 0 && *options.flag_share <= 1))
    return fail(ErrorKind::kUsage,
                fmt::format("‘flag_share’ is a share of the rows, above 0 and at most 1, but is "
                            "{}. For 5 % give 0.05.",
                            *options.flag_share));
  if (options.top < 0)
    return fail(ErrorKind::kUsage,
                fmt::format("‘top’ is a number of rows, at least 1, but is {}.", options.top));
  return {};
}

}  // namespace

Expected<ScoreColumns> ScoreColumns::make(const Model& model,
                                          const Family& family,
                                          const ScoreOptions& options) {
  SOTTO_ASSIGN(const ModelKind kind, kind_of(model));
  SOTTO_TRY(check_numbers(options, kind.probabilities));
  ScoreColumns columns(model, family, kind);
  columns.all_probabilities_ = options.probabilities;
  columns.flags_ = options.threshold || options.flag_share;
  if (options.probabilities || !options.of_class.empty()) SOTTO_TRY(family.check_probabilities());
  if (!kind.classes) return columns;
  const auto classes = static_cast<std::size_t>(std::max<std::int64_t>(2, family.width()));
  SOTTO_ASSIGN(columns.class_names_, all_class_names(model, classes));
  for (const std::string& name : columns.class_names_)
    append_csv_field(columns.class_fields_.emplace_back(), name);
  if (classes == 2) columns.ranked_ = 1;
  if (!options.of_class.empty()) SOTTO_TRY(columns.choose_class(options.of_class, model));
  if (!columns.ranked_ && (columns.flags_ || options.sort || options.top > 0))
    return fail(ErrorKind::kUsage,
                fmt::format("the model has {} classes. Say with ‘class’ by the probability of "
                            "which one rows are sorted or flagged: {}.",
                            classes,
                            fmt::join(columns.class_names_, ", ")));
  return columns;
}

Expected<void> ScoreColumns::choose_class(const std::string& name, const Model& model) {
  for (const auto& names : {class_names_, model.class_names}) {
    if (names.size() != class_names_.size()) continue;  // a model that is no file of ours
    if (const auto place = std::find(names.begin(), names.end(), name); place != names.end()) {
      ranked_ = static_cast<std::size_t>(place - names.begin());
      return {};
    }
  }
  if (!model.schema.empty()) {
    SOTTO_ASSIGN(const Schema schema, Schema::parse(model.schema, "the model's schema"));
    if (const auto place = schema.class_called(name); place && *place < class_names_.size()) {
      ranked_ = *place;
      return {};
    }
  }
  return fail(ErrorKind::kUsage,
              fmt::format("‘class’ names '{}', which the model does not know.{} Its classes: {}.",
                          name,
                          did_you_mean(name, class_names_),
                          fmt::join(class_names_, ", ")));
}

std::vector<OutputColumn> ScoreColumns::own_columns() const {
  using Type = OutputColumn::Type;
  std::vector<OutputColumn> columns = {{"prediction", kind_.classes ? Type::kText : Type::kReal}};
  if (kind_.classes && all_probabilities_)
    for (const std::string& name : class_names_)
      columns.push_back({"probability of " + name, Type::kReal});
  else if (kind_.classes)
    columns.push_back({kind_.probabilities ? "probability" : "score", Type::kReal});
  if (flags_) columns.push_back({"flagged", Type::kInteger});
  return columns;
}

Expected<std::vector<OutputColumn>> ScoreColumns::all(const std::vector<std::string>& kept) const {
  std::vector<OutputColumn> columns;
  for (auto name = kept.begin(); name != kept.end(); ++name) {
    if (std::find(kept.begin(), name, *name) != name)
      return fail(ErrorKind::kUsage, fmt::format("‘keep’ names '{}' twice.", *name));
    columns.push_back({*name, OutputColumn::Type::kText});
  }
  std::vector<OutputColumn> own = own_columns();
  if (kept.empty()) columns.push_back({"row", OutputColumn::Type::kInteger});
  for (OutputColumn& column : own) {
    if (std::find(kept.begin(), kept.end(), column.name) != kept.end())
      return fail(ErrorKind::kUsage,
                  fmt::format("‘keep’ names '{}', which is a column of the predictions themselves. "
                              "Rename it in the file, or leave it out.",
                              column.name));
    columns.push_back(std::move(column));
  }
  return columns;
}

void ScoreColumns::measure(std::span<const double> outputs, RowScore& score) const {
  if (!kind_.classes) {
    score.shown = score.key = linear_ ? sotto::prediction(loss_, outputs[0]) : outputs[0];
    return;
  }
  score.guess = guessed_class(outputs);
  if (!kind_.probabilities) {
    score.shown = score.key = outputs[0];
    return;
  }
  if (outputs.size() == 1)  // 1 - p would lose the small ones
    score.probabilities = {1 / (1 + std::exp(outputs[0])), 1 / (1 + std::exp(-outputs[0]))};
  else
    score.probabilities = family_->probabilities(outputs);
  score.shown = score.key = score.probabilities[ranked_.value_or(score.guess)];
  // Log odds still differ where probabilities are rounded to 1.
  if (score.probabilities.size() == 2) {
    const double odds = outputs.size() == 1 ? outputs[0] : outputs[1] - outputs[0];
    score.key = ranked_ == 0U ? -odds : odds;
  }
}

void ScoreColumns::append(std::string& line, const RowScore& score) const {
  if (!kind_.classes) return append_number(line, score.shown);
  line += class_fields_[score.guess];
  const auto add = [&](double number) {
    line += ',';
    append_number(line, number);
  };
  if (!all_probabilities_) return add(score.shown);
  std::for_each(score.probabilities.begin(), score.probabilities.end(), add);
}

}  // namespace sotto
