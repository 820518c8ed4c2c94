#include "sotto/study/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>
#include <tuple>

#include "sotto/study/tables.hpp"

namespace sotto::study {
namespace {

using Kind = TestSpec::Kind;

const Reproduced* find(const std::vector<Reproduced>& all, const std::string& name) {
  for (const auto& each : all)
    if (each.spec.name == name) return &each;
  return nullptr;
}

bool concerns(const TestSpec& test, const CellSpec& cell) {
  return (test.group.empty() || cell.group == test.group) &&
         (test.data.empty() || cell.data == test.data) &&
         (!test.epsilon || cell.epsilon == test.epsilon) && (!test.x || cell.x == test.x);
}

bool same_but_for_the_row(const CellSpec& a, const CellSpec& b) {
  return a.group == b.group && a.data == b.data && a.epsilon == b.epsilon && a.x == b.x;
}

/// The arm of a cell, if it was run.
const ArmResult* arm_of(const Reproduced& in, const CellSpec& cell, Way way) {
  const CellResult* result = in.results ? in.results->find(key_of(cell)) : nullptr;
  return result ? result->run(way) : nullptr;
}

/// Mean, spread and runs of a measure; nothing where it was not measured.
struct Sample {
  Statistic value;
  int runs = 0;
  double error() const {
    const bool rounding = value.deviation <= 1e-9 * std::abs(value.mean);
    return runs > 1 && !rounding ? value.deviation / std::sqrt(runs) : 0;
  }
};

std::optional<Sample> sample_of(const Reproduced& in,
                                const CellSpec& cell,
                                Way way,
                                const std::string& measure) {
  const ArmResult* arm = arm_of(in, cell, way);
  if (!arm) return std::nullopt;
  const auto found = arm->measures.find(measure);
  if (found == arm->measures.end() || !std::isfinite(found->second.mean)) return std::nullopt;
  return Sample{found->second, arm->runs};
}

std::string text_of(const std::string& measure, const Sample& sample) {
  std::string text = shown(measure, sample.value.mean);
  if (sample.runs > 1) text += " ± " + shown(measure, sample.error());
  return fmt::format("{} ({})", text, sample.runs);
}

/// Where a comparison was made: what its cells have in common.
std::string place_of(const StudySpec& spec, const CellSpec& cell) {
  std::string place = cell.group;
  const auto add = [&](const std::string& part) { place += (place.empty() ? "" : ", ") + part; };
  if (spec.data.size() > 1) add(cell.data);
  if (cell.epsilon) add(fmt::format("ε {:g}", *cell.epsilon));
  if (cell.x) add(fmt::format("{} {:g}", spec.x_label, *cell.x));
  return place.empty() ? "" : place + ": ";
}

/// The quantile of a two-sided 95 % test.
double quantile(double degrees) {
  return boost::math::quantile(boost::math::students_t(std::max(degrees, 1.0)), 0.975);
}

/// Means that agree to rounding are no difference, however small their error.
Outcome decided(double difference, double width, double size, bool lower) {
  width = std::max(width, 1e-9 * std::abs(size));
  if (std::abs(difference) <= width) return Outcome::kUndecided;
  return (difference < 0) == lower ? Outcome::kHolds : Outcome::kFails;
}

Outcome against_bound(const Sample& sample, double bound, bool lower) {
  const double difference = sample.value.mean - bound;
  if (sample.runs < 2)
    return (difference <= 0) == lower ? Outcome::kForOnce : Outcome::kAgainstOnce;
  if (difference == 0) return Outcome::kHolds;  // a bound may be met exactly
  return decided(difference, quantile(sample.runs - 1) * sample.error(), bound, lower);
}

Finding ordered(const TestSpec& test,
                const Reproduced& in,
                const CellSpec& first,
                const CellSpec& second) {
  const auto a = sample_of(in, first, test.arm, test.measure);
  const auto b = sample_of(in, second, test.than_arm, test.measure);
  if (!a || !b) return {};
  return {compare(a->value, a->runs, b->value, b->runs, test.kind == Kind::kLower),
          fmt::format("{}{} against {}",
                      place_of(in.spec, first),
                      text_of(test.measure, *a),
                      text_of(test.measure, *b))};
}

Finding spends(const TestSpec& test, const Reproduced& in, const CellSpec& cell) {
  const ArmResult* arm = arm_of(in, cell, test.arm);
  if (!arm || !cell.epsilon) return {};
  return {
      arm->is_private && arm->epsilon <= *cell.epsilon * 1.0001 ? Outcome::kHolds : Outcome::kFails,
      fmt::format("{}{} for a stated {:g}",
                  cell.group.empty() ? "" : cell.group + ": ",
                  epsilon_text(*arm),
                  *cell.epsilon)};
}

/// A printed mean rarely says how many runs it is of: what counts is whether it lies within two
/// standard deviations of single runs, theirs if printed, else ours.
Finding as_printed(const TestSpec& test, const Reproduced& in, const CellSpec& cell) {
  const auto sample = sample_of(in, cell, test.arm, test.measure);
  const auto printed = cell.printed.find(test.measure);
  if (!sample || printed == cell.printed.end()) return {};
  const double spread = std::max(printed->second.deviation.value_or(0), sample->value.deviation);
  const double difference = std::abs(sample->value.mean - printed->second.value);
  Outcome outcome = difference <= 2 * spread ? Outcome::kHolds : Outcome::kFails;
  if (sample->runs < 2 && !printed->second.deviation) outcome = Outcome::kUndecided;
  return {outcome,
          fmt::format("{}{} where {:g} was printed",
                      place_of(in.spec, cell),
                      text_of(test.measure, *sample),
                      printed->second.value)};
}

/// A value along x or epsilon: the row's mean, or how far it lies above the other row's.
struct Point {
  double along = 0;
  double value = 0;
  double variance = 0;  ///< of the mean
  int runs = 0;         ///< the fewest
  std::string text;
};

std::optional<Point> point_of(const TestSpec& test, const Reproduced& in, const CellSpec& cell) {
  const auto along = cell.at(test.along);
  const auto sample = sample_of(in, cell, test.arm, test.measure);
  if (!along || !sample) return std::nullopt;
  const auto square = [](double value) { return value * value; };
  Point point{*along,
              sample->value.mean,
              square(sample->error()),
              sample->runs,
              text_of(test.measure, *sample)};
  if (test.kind != Kind::kWidens) return point;
  for (const auto& other : in.spec.cells) {
    if (other.row != test.than || !same_but_for_the_row(cell, other)) continue;
    const auto than = sample_of(in, other, test.than_arm, test.measure);
    if (!than) return std::nullopt;
    point.value -= than->value.mean;
    point.variance += square(than->error());
    point.runs = std::min(point.runs, than->runs);
    point.text = fmt::format("{:+.{}f} ± {:.2g}",
                             point.value,
                             find_measure(test.measure)->digits,
                             std::sqrt(point.variance));
    return point;
  }
  return std::nullopt;
}

/// Whether a value is lower at the second point, in the manner of compare().
Outcome falls_between(const Point& first, const Point& second) {
  const double difference = second.value - first.value;
  if (first.runs < 2 || second.runs < 2)
    return difference == 0  ? Outcome::kUndecided
           : difference < 0 ? Outcome::kForOnce
                            : Outcome::kAgainstOnce;
  const double width =
      quantile(first.runs + second.runs - 2.0) * std::sqrt(first.variance + second.variance);
  return decided(difference, width, first.value, true);
}

Outcome opposite(Outcome outcome) {
  switch (outcome) {
    case Outcome::kHolds:
      return Outcome::kFails;
    case Outcome::kFails:
      return Outcome::kHolds;
    case Outcome::kForOnce:
      return Outcome::kAgainstOnce;
    case Outcome::kAgainstOnce:
      return Outcome::kForOnce;
    default:
      return outcome;
  }
}

Outcome outcome_along(const TestSpec& test, const std::vector<Point>& points) {
  const Outcome ends = falls_between(points.front(), points.back());
  if (test.kind == Kind::kWidens) return opposite(ends);
  if (test.kind == Kind::kSteady)
    return ends == Outcome::kUndecided                          ? Outcome::kHolds
           : ends == Outcome::kHolds || ends == Outcome::kFails ? Outcome::kFails
                                                                : Outcome::kUndecided;
  const bool rises = test.kind == Kind::kRises;
  const Outcome wrong_way = rises ? Outcome::kHolds : Outcome::kFails;
  for (std::size_t k = 1; k < points.size(); ++k)
    if (falls_between(points[k - 1], points[k]) == wrong_way) return Outcome::kFails;
  return rises ? opposite(ends) : ends;
}

/// One finding per series: its ends, and no step the wrong way on the way beyond the error.
std::vector<Finding> along(const TestSpec& test, const Reproduced& in) {
  using Rest = std::tuple<std::string, std::string, std::optional<double>>;
  std::map<Rest, std::vector<Point>> series;
  for (const auto& cell : in.spec.cells) {
    if (cell.row != test.row || !concerns(test, cell)) continue;
    auto& points = series[{cell.group, cell.data, test.along == Axis::kX ? cell.epsilon : cell.x}];
    if (auto point = point_of(test, in, cell)) points.push_back(*std::move(point));
  }
  std::vector<Finding> findings;
  for (auto& [rest, points] : series) {
    if (points.size() < 2) {
      findings.push_back({});
      continue;
    }
    std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
      return a.along < b.along;
    });
    CellSpec place;
    place.group = std::get<0>(rest);
    place.data = std::get<1>(rest);
    (test.along == Axis::kX ? place.epsilon : place.x) = std::get<2>(rest);
    findings.push_back({outcome_along(test, points),
                        fmt::format("{}{} at {:g}, {} at {:g}",
                                    place_of(in.spec, place),
                                    points.front().text,
                                    points.front().along,
                                    points.back().text,
                                    points.back().along)});
  }
  return findings;
}

std::vector<Finding> slope(const TestSpec& test, const Reproduced& in) {
  for (const auto& spec : in.spec.slopes) {
    if (spec.title != test.row) continue;
    const auto fitted =
        fitted_exponent(slope_points(spec, in.spec, in.results.value_or(Results{})));
    if (!fitted) return {{}};
    const double width = quantile(fitted->points - 2.0) * fitted->error;
    Outcome outcome = Outcome::kHolds;
    if (fitted->points < 3) outcome = Outcome::kUndecided;
    if (fitted->points >= 3 && fitted->value > spec.theory + width) outcome = Outcome::kFails;
    return {{outcome,
             fmt::format("{}: exponent {:+.2f} ± {:.2f}, theory {:+.2f}",
                         spec.title,
                         fitted->value,
                         fitted->error,
                         spec.theory)}};
  }
  return {{}};
}

constexpr std::array kOutcomes = {Outcome::kHolds,
                                  Outcome::kFails,
                                  Outcome::kUndecided,
                                  Outcome::kForOnce,
                                  Outcome::kAgainstOnce,
                                  Outcome::kNotRun};

/// The same of all comparisons, or none of it.
Whole whole_of(const std::map<Outcome, int>& counts) {
  if (counts.empty()) return Whole::kNotRun;
  if (counts.size() != 1) return Whole::kMixed;
  switch (counts.begin()->first) {
    case Outcome::kHolds:
      return Whole::kHolds;
    case Outcome::kFails:
      return Whole::kFails;
    case Outcome::kNotRun:
      return Whole::kNotRun;
    default:
      return Whole::kMixed;
  }
}

std::string word_of(const std::map<Outcome, int>& counts) {
  const auto count = [&](Outcome outcome) {
    const auto found = counts.find(outcome);
    return found == counts.end() ? 0 : found->second;
  };
  int run = 0;
  for (const Outcome outcome : kOutcomes)
    if (outcome != Outcome::kNotRun) run += count(outcome);
  if (run == 0) return "not run";
  std::string word;
  const auto add = [&](const std::string& part) { word += (word.empty() ? "" : ", ") + part; };
  const auto all_or = [&](Outcome outcome, const char* what) {
    if (count(outcome) == run)
      word = what;
    else if (count(outcome) > 0)
      add(fmt::format("{} in {} of {}", what, count(outcome), run));
  };
  all_or(Outcome::kHolds, "yes");
  all_or(Outcome::kFails, "no");
  all_or(Outcome::kUndecided, "no difference");
  if (const int once = count(Outcome::kForOnce) + count(Outcome::kAgainstOnce); once > 0)
    add(fmt::format("{} with one run: {} for, {} against",
                    once == run ? "all" : std::to_string(once),
                    count(Outcome::kForOnce),
                    count(Outcome::kAgainstOnce)));
  if (count(Outcome::kNotRun) > 0) add(fmt::format("{} not run", count(Outcome::kNotRun)));
  return word;
}

/// All numbers where they are few; otherwise two for each outcome.
std::string evidence_of(const std::vector<Finding>& findings) {
  constexpr std::size_t kFew = 4;
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (const Outcome outcome : kOutcomes) {
    if (outcome == Outcome::kNotRun) continue;
    std::size_t shown_here = 0, left = 0;
    for (const auto& finding : findings) {
      if (finding.outcome != outcome) continue;
      if (findings.size() <= kFew || shown_here < 2) {
        add(finding.text);
        ++shown_here;
      } else {
        ++left;
      }
    }
    if (left > 0) add(fmt::format("and {} more like these", left));
  }
  return text;
}

}  // namespace

Outcome compare(
    const Statistic& first, int first_runs, const Statistic& second, int second_runs, bool lower) {
  const double difference = first.mean - second.mean;
  if (first_runs < 2 || second_runs < 2)
    return difference == 0             ? Outcome::kUndecided
           : (difference < 0) == lower ? Outcome::kForOnce
                                       : Outcome::kAgainstOnce;
  const double a = first.deviation * first.deviation / first_runs;
  const double b = second.deviation * second.deviation / second_runs;
  const double degrees =
      a + b > 0 ? (a + b) * (a + b) / (a * a / (first_runs - 1) + b * b / (second_runs - 1)) : 1;
  return decided(difference, quantile(degrees) * std::sqrt(a + b), first.mean, lower);
}

std::vector<Finding> findings_of(const TestSpec& test, const std::vector<Reproduced>& all) {
  const Reproduced* in = find(all, test.in);
  if (!in) return {{}};
  if (test.follows()) return along(test, *in);
  if (test.kind == Kind::kSlope) return slope(test, *in);
  std::vector<Finding> findings;
  for (const auto& cell : in->spec.cells) {
    if (cell.row != test.row || !concerns(test, cell) || !cell.arm(test.arm).has_value()) continue;
    if (test.kind == Kind::kSpends) {
      findings.push_back(spends(test, *in, cell));
    } else if (test.kind == Kind::kPrinted) {
      if (cell.printed.contains(test.measure)) findings.push_back(as_printed(test, *in, cell));
    } else if (test.kind == Kind::kAtLeast || test.kind == Kind::kAtMost) {
      const auto sample = sample_of(*in, cell, test.arm, test.measure);
      if (!sample)
        findings.push_back({});
      else
        findings.push_back(
            {against_bound(*sample, test.bound, test.kind == Kind::kAtMost),
             fmt::format("{}{}", place_of(in->spec, cell), text_of(test.measure, *sample))});
    } else if (test.than.empty()) {
      findings.push_back(ordered(test, *in, cell, cell));
    } else {
      for (const auto& other : in->spec.cells)
        if (other.row == test.than && same_but_for_the_row(cell, other) &&
            other.arm(test.than_arm).has_value())
          findings.push_back(ordered(test, *in, cell, other));
    }
  }
  return findings;
}

Verdict verdict_of(const ClaimSpec& claim, const std::vector<Reproduced>& all) {
  if (!claim.absent.empty()) return {Whole::kMixed, "nothing to run", claim.absent};
  if (!claim.argued.empty()) return {Whole::kMixed, "argued, not measured", claim.argued};
  std::vector<Finding> findings;
  std::map<Outcome, int> counts;
  for (const auto& test : claim.tests)
    for (auto& finding : findings_of(test, all)) {
      ++counts[finding.outcome];
      findings.push_back(std::move(finding));
    }
  return {whole_of(counts), word_of(counts), evidence_of(findings)};
}

std::vector<ClaimLine> claim_lines(const PaperSpec& paper,
                                   const std::vector<Reproduced>& all,
                                   const std::string& reproduction) {
  std::vector<ClaimLine> lines;
  for (const auto& claim : paper.claims) {
    std::vector<std::string> see = claim.see;
    for (const auto& test : claim.tests)
      if (std::find(see.begin(), see.end(), test.in) == see.end()) see.push_back(test.in);
    if (!reproduction.empty() && std::find(see.begin(), see.end(), reproduction) == see.end())
      continue;
    const Verdict verdict = verdict_of(claim, all);
    lines.push_back(
        {claim.item, claim.claim, verdict.whole, verdict.word, verdict.evidence, std::move(see)});
  }
  return lines;
}

std::string summary_of(const PaperSpec& paper, const std::vector<Reproduced>& all) {
  std::map<Whole, int> counts;
  int tested = 0;
  for (const auto& claim : paper.claims) {
    if (claim.tests.empty()) continue;
    ++tested;
    ++counts[verdict_of(claim, all).whole];
  }
  return fmt::format(
      "Of {} claims that cells can decide, {} hold in every comparison, {} in none, {} in some or "
      "within the error; {} wait for runs.",
      tested,
      counts[Whole::kHolds],
      counts[Whole::kFails],
      counts[Whole::kMixed],
      counts[Whole::kNotRun]);
}

Expected<void> check_claims(const std::vector<PaperSpec>& papers,
                            const std::vector<StudySpec>& specs) {
  std::vector<Reproduced> all;
  for (const auto& spec : specs) all.push_back({spec, std::nullopt});
  for (const auto& paper : papers)
    for (const auto& claim : paper.claims)
      for (const auto& test : claim.tests) {
        const auto bad = [&](const std::string& what) {
          return fail(ErrorKind::kBadData,
                      fmt::format("papers.toml, [{}] {}: {}", paper.key, claim.item, what));
        };
        const Reproduced* in = find(all, test.in);
        if (!in) return bad(fmt::format("there is no reproduction '{}'.", test.in));
        if (!test.measure.empty() && !find_measure(test.measure))
          return bad(fmt::format("there is no measure '{}'.", test.measure));
        if (test.kind == Kind::kSlope) {
          if (std::none_of(in->spec.slopes.begin(), in->spec.slopes.end(), [&](const auto& each) {
                return each.title == test.row;
              }))
            return bad(fmt::format("{} has no slope '{}'.", test.in, test.row));
        } else if (findings_of(test, all).empty()) {
          return bad(fmt::format("no cells of {} answer '{}'{}.",
                                 test.in,
                                 test.row,
                                 test.than.empty() ? "" : " against '" + test.than + "'"));
        }
      }
  return {};
}

}  // namespace sotto::study
