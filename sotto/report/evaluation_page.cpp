#include "sotto/report/evaluation_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/report/page.hpp"
#include "sotto/report/privacy_words.hpp"

namespace sotto {
namespace {

using Cut = TwoClassScores::Cut;

constexpr std::size_t kMostClasses = 20;

std::string four_digits(const std::optional<double>& value) {
  return value ? fmt::format("{:.4f}", *value) : "-";
}

double share(std::int64_t count, std::int64_t of) {
  return static_cast<double>(count) / static_cast<double>(of);
}

std::string percent(double value) { return fmt::format("{:.2f} %", 100 * value); }

std::string privacy_sentence(const PrivacyStatement& privacy) {
  if (!privacy.is_private) return "The model gives no privacy guarantee for its training rows.";
  return fmt::format(
      "The model's guarantee for its training rows, epsilon {}{} at delta {}, says nothing about "
      "these rows.",
      rounded_up(privacy.epsilon),
      seed_mark(privacy),
      rounded_up(privacy.delta));
}

/// A curve with a point at each cut that moves it by a visible amount.
template <class Place>
std::vector<std::pair<double, double>> curve(const TwoClassScores& scores, const Place& place) {
  constexpr double kVisible = 1.0 / 400;
  std::vector<std::pair<double, double>> points;
  for (std::size_t k = 0; k < scores.cuts.size(); ++k) {
    const std::pair<double, double> next = place(scores.cuts[k]);
    if (points.empty() || k + 1 == scores.cuts.size() ||
        std::abs(next.first - points.back().first) + std::abs(next.second - points.back().second) >=
            kVisible)
      points.push_back(next);
  }
  return points;
}

Chart roc_chart(const TwoClassScores& scores, const std::string& positive) {
  Chart chart;
  chart.title = "ROC curve";
  chart.note = fmt::format(
      "For every threshold: the share of the rows of class {} that is flagged, against the share "
      "of "
      "the others that is flagged by mistake. The area below it is the AUC.",
      positive);
  chart.x_label = "false positive rate";
  chart.y_label = "true positive rate";
  const auto positives = static_cast<double>(scores.positives);
  const double negatives = static_cast<double>(scores.rows) - positives;
  Chart::Series model{"the model"};
  model.points = curve(scores, [&](const Cut& cut) {
    return std::pair(static_cast<double>(cut.flagged - cut.right) / negatives,
                     static_cast<double>(cut.right) / positives);
  });
  model.points.insert(model.points.begin(), {0, 0});
  chart.series = {std::move(model), {"by chance", {{0, 0}, {1, 1}}}};
  chart.series.back().dashed = true;
  return chart;
}

Chart precision_chart(const TwoClassScores& scores, const std::string& positive) {
  Chart chart;
  chart.title = "Precision and recall";
  chart.note = fmt::format(
      "For every threshold: the share of the flagged rows that is of class {}, against the share "
      "of "
      "this class that is flagged. The area below it is the PR-AUC.",
      positive);
  chart.x_label = "recall";
  chart.y_label = "precision";
  Chart::Series model{"the model"};
  model.points = curve(scores, [&](const Cut& cut) {
    return std::pair(*scores.recall(cut), *scores.precision(cut));
  });
  chart.series = {std::move(model), {"by chance", {{0, scores.share()}, {1, scores.share()}}}};
  chart.series.back().dashed = true;
  return chart;
}

Chart reliability_chart(const TwoClassScores& scores) {
  Chart chart;
  chart.title = "Reliability";
  chart.note =
      "Rows in ten groups by predicted probability. Where probabilities can be believed, the share "
      "that was observed is the one that was predicted; the band is its 95 % interval.";
  chart.x_label = "mean predicted probability";
  chart.y_label = "observed share";
  Chart::Series model{"the model"};
  double end = 0;
  for (const auto& group : scores.probabilities->groups) {
    model.points.emplace_back(group.predicted, group.observed());
    model.band.push_back(share_interval(group.positives, group.rows));
    end = std::max({end, group.predicted, model.band.back().second});
  }
  chart.series = {std::move(model), {"predicted = observed", {{0, 0}, {end, end}}}};
  chart.series.back().dashed = true;
  return chart;
}

void add_reliability(Page& page, const TwoClassScores& scores) {
  page.chart(reliability_chart(scores));
  Rows rows;
  for (const auto& group : scores.probabilities->groups) {
    const auto [low, high] = share_interval(group.positives, group.rows);
    const bool fits = low <= group.predicted && group.predicted <= high;
    rows.push_back(
        {with_commas(group.rows),
         Cell(fmt::format("{:.4f}", group.predicted), fits ? Tone::kPlain : Tone::kWarning),
         fmt::format("{:.4f}", group.observed()),
         fmt::format("{:.4f} to {:.4f}", low, high)});
  }
  page.table({{"rows", true}, {"predicted", true}, {"observed", true}, {"95 % interval", true}},
             rows,
             "Predictions in amber are outside the interval of what was observed");
}

void add_thresholds(Page& page, const TwoClassScores& scores, const std::string& positive) {
  page.heading("Thresholds");
  page.paragraph(fmt::format(
      "Rows at or above a threshold are flagged as {}. A threshold is chosen for what a missed and "
      "a wrongly flagged row cost, and 0.5 is only the one where both cost the same.",
      positive));
  Rows rows;
  const auto add = [&](const Cut& cut, const char* note) {
    rows.push_back({fmt::format("{}{}", cut.told, note),
                    with_commas(cut.flagged),
                    percent(share(cut.flagged, scores.rows)),
                    four_digits(scores.precision(cut)),
                    four_digits(scores.recall(cut))});
  };
  for (const int each : kFlaggedPercents) add(scores.at_percent(each), "");
  add(scores.own, " (own)");
  page.table({{scores.probabilities ? "probability" : "score", true},
              {"flagged rows", true},
              {"flagged share", true},
              {"precision", true},
              {"recall", true}},
             rows,
             "own: what the model predicts by itself, above the threshold");
}

void add_two_classes(Page& page, const Evaluation& e) {
  const TwoClassScores& scores = *e.two;
  const std::string& positive = e.class_names[1];
  page.heading("Ranking");
  if (scores.auc)
    page.chart(roc_chart(scores, positive)).chart(precision_chart(scores, positive));
  else
    page.paragraph("All rows are of one class, so that there is no ranking to judge.");
  page.heading("Probabilities");
  if (scores.probabilities)
    add_reliability(page, scores);
  else
    page.paragraph(fmt::format(
        "The loss {} gives scores without probabilities: log loss, Brier score, mean prediction "
        "and reliability can't be told.",
        e.loss));
  add_thresholds(page, scores, positive);
}

void add_many_classes(Page& page, const Evaluation& e) {
  page.heading("Classes");
  Rows rows;
  for (std::size_t c = 0; c < e.class_names.size(); ++c)
    rows.push_back({e.class_names[c],
                    with_commas(rows_of(e.confusion, c)),
                    with_commas(rows_as(e.confusion, c)),
                    four_digits(e.many->auc[c])});
  page.table({"class", {"rows", true}, {"predicted", true}, {"AUC against all others", true}},
             rows);
}

void add_confusion(Page& page, const Evaluation& e) {
  page.heading("Confusion");
  if (e.confusion.size() > kMostClasses) {
    page.paragraph("There are too many classes for a table.");
    return;
  }
  std::vector<Column> columns = {"truth"};
  for (const auto& name : e.class_names) columns.emplace_back(name, true);
  Rows rows;
  for (std::size_t truth = 0; truth < e.confusion.size(); ++truth) {
    rows.push_back({Cell(e.class_names[truth])});
    for (std::size_t c = 0; c < e.confusion.size(); ++c)
      rows.back().push_back(
          {with_commas(e.confusion[truth][c]), c == truth ? Tone::kGood : Tone::kPlain});
  }
  page.table(columns, rows, "Rows by true class and prediction");
}

std::vector<Figure> figures_of(const Evaluation& e) {
  if (const auto& errors = e.numbers) {
    std::vector<Figure> figures = {
        {"RMSE", rounded(errors->rmse)},
        {"MAE", rounded(errors->mae)},
        {"R²", four_digits(errors->r_squared), "1 is perfect, 0 the mean of the labels"},
        {"bias", rounded(errors->bias), "mean of prediction - label"}};
    if (const auto& counts = e.counts)
      figures.push_back({"deviance",
                         rounded(counts->deviance),
                         counts->explained ? percent(*counts->explained) + " explained" : ""});
    return figures;
  }
  const std::size_t majority = majority_class(e.confusion);
  std::vector<Figure> figures = {
      {"accuracy",
       percent(share(rows_right(e.confusion), e.rows)),
       fmt::format("{} for always {}",
                   percent(share(rows_of(e.confusion, majority), e.rows)),
                   e.class_names[majority])}};
  const std::string chance = fmt::format("{:.4f} by chance", log_loss_of_shares(e.confusion));
  if (const auto& scores = e.two) {
    figures.push_back({"AUC", four_digits(scores->auc), "0.5 by chance"});
    figures.push_back({"PR-AUC",
                       four_digits(scores->average_precision),
                       rounded(scores->share()) + " by chance"});
    if (const auto& p = scores->probabilities) {
      figures.push_back(
          {"mean prediction", rounded(p->mean), rounded(scores->share()) + " observed"});
      figures.push_back({"log loss", fmt::format("{:.4f}", p->log_loss), chance});
      figures.push_back({"Brier score", fmt::format("{:.4f}", p->brier)});
    }
  }
  if (const auto& scores = e.many) {
    figures.push_back({"log loss", fmt::format("{:.4f}", scores->log_loss), chance});
    figures.push_back({"Brier score", fmt::format("{:.4f}", scores->brier), "sum over classes"});
  }
  return figures;
}

}  // namespace

std::string evaluation_page(const Evaluation& e,
                            const PrivacyStatement& privacy,
                            const std::string& model,
                            const std::string& rows) {
  Page page(fmt::format("Evaluation: {}", model),
            fmt::format("on {} rows of {}", with_commas(e.rows), rows));
  page.banner(Tone::kWarning,
              "Exact numbers, for public rows only",
              "Nothing on this page is noised, so that it tells about single rows. Whoever made it "
              "declared its rows public. " +
                  privacy_sentence(privacy));
  for (const std::size_t c : never_predicted(e.confusion))
    page.banner(Tone::kWarning,
                fmt::format("{} is never predicted", e.class_names[c]),
                fmt::format("{} rows are of this class.{}",
                            with_commas(rows_of(e.confusion, c)),
                            e.two ? " The table of thresholds shows others than 0.5. Probabilities "
                                    "that are wrong throughout can be corrected with public rows "
                                    "(`sotto recalibrate`)."
                                  : ""));
  if (const auto loss = log_loss_of(e); loss && worse_than_shares(*loss, e.confusion))
    page.banner(Tone::kWarning,
                "The probabilities are worse than the classes' shares",
                fmt::format("Log loss {:.4f}, and {:.4f} for giving every row the classes' shares.",
                            *loss,
                            log_loss_of_shares(e.confusion)));
  page.heading("Summary");
  page.figures(figures_of(e));
  if (e.two) add_two_classes(page, e);
  if (e.many) add_many_classes(page, e);
  if (!e.confusion.empty()) add_confusion(page, e);
  return page.html();
}

}  // namespace sotto
