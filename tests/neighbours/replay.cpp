#include "tests/neighbours/replay.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numbers>
#include <regex>
#include <utility>

#include "apps/sotto/command_line.hpp"
#include "sotto/core/stop.hpp"
#include "sotto/mechanism/lazy_operator.hpp"
#include "sotto/mechanism/release_tap.hpp"
#include "sotto/privacy/sampling.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;

template <class T>
const char* type_name();
template <>
const char* type_name<Vector>() {
  return "Vector";
}
template <>
const char* type_name<double>() {
  return "double";
}
template <>
const char* type_name<bool>() {
  return "bool";
}
template <>
const char* type_name<std::int64_t>() {
  return "int64";
}
template <>
const char* type_name<Matrix>() {
  return "Matrix";
}
template <>
const char* type_name<GradientHessian>() {
  return "GradientHessian";
}
template <>
const char* type_name<SignedCoordinate>() {
  return "SignedCoordinate";
}
template <>
const char* type_name<CoordinateScores>() {
  return "CoordinateScores";
}
template <>
const char* type_name<SymmetricProduct>() {
  return "SymmetricProduct";
}

/// The lower triangle, such that the Euclidean norm is Frobenius'.
void append_triangle(const Matrix& matrix, double scale, std::vector<double>& to) {
  for (Eigen::Index j = 0; j < matrix.cols(); ++j)
    for (Eigen::Index i = j; i < matrix.rows(); ++i)
      to.push_back(matrix(i, j) / scale * (i == j ? 1 : std::numbers::sqrt2));
}

Vector as_vector(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), std::ssize(values));
}

/// Whether the value is a whole number of units (plus `offset` of them), to the last bit.
bool on_grid(double value, double unit, double offset = 0) {
  return (std::round(value / unit - offset) + offset) * unit == value;
}

std::string event_word(const Event& event) {
  const std::string text = to_string(event);
  for (const char* word : {"gaussian", "laplace", "exponential", "sparse_vector", "non_private"})
    if (text.find(word) != text.npos) return word;
  return text;
}

/// A checkpoint ends with a SHA-256 of the rest, and the rest has the run's name in it, which is
/// another one each time (take_out_names). How far the stream of noise was read is in it for a
/// known seed only (archive_position), which these runs have so that they can be replayed: a noisy
/// maximum reads as much as its scores ask for.
std::string without_digest(std::string text) {
  constexpr std::size_t kDigest = 32;
  if (!text.starts_with("sotto checkpoint") || text.size() <= kDigest) return text;
  text.resize(text.size() - kDigest);
  constexpr std::string_view kPosition = "oracle.position";
  if (const std::size_t at = text.find(kPosition); at != text.npos)
    text.replace(at + kPosition.size(), sizeof(std::int64_t), sizeof(std::int64_t), '\0');
  return text;
}

class Listener final : public ReleaseTap {
 public:
  Listener(World& world, const World* a, const RunOptions& options)
      : world_(world), a_(a), options_(options) {}

  void opened(const std::type_info& type, void* value, const SensitivityClaim& claim) override {
    Sealed sealed;
    sealed.sensitivity = claim.sensitivity();
    std::vector<double> entries;
    if (type == typeid(Vector)) {
      sealed.type = type_name<Vector>();
      sealed.coordinates = *static_cast<Vector*>(value);
    } else if (type == typeid(double)) {
      sealed.type = type_name<double>();
      sealed.coordinates = Vector::Constant(1, *static_cast<double*>(value));
    } else if (type == typeid(Matrix)) {
      sealed.type = type_name<Matrix>();
      append_triangle(*static_cast<Matrix*>(value), 1, entries);
      sealed.coordinates = as_vector(entries);
    } else if (type == typeid(GradientHessian)) {
      sealed.type = type_name<GradientHessian>();
      const auto& pair = *static_cast<GradientHessian*>(value);
      for (const double entry : pair.gradient) entries.push_back(entry / pair.gradient_scale);
      append_triangle(pair.hessian, pair.hessian_scale, entries);
      sealed.coordinates = as_vector(entries);
    } else if (type == typeid(CoordinateScores)) {
      sealed.type = type_name<CoordinateScores>();
      sealed.largest = true;
      const auto& scores = *static_cast<CoordinateScores*>(value);
      sealed.integers.resize(scores.parts.front().size());
      for (const auto& part : scores.parts)
        for (std::size_t k = 0; k < part.size(); ++k) sealed.integers[k] += part[k];
    } else if (type == typeid(SymmetricProduct)) {
      sealed.type = type_name<SymmetricProduct>();
      sealed.products = std::make_shared<std::vector<Vector>>();
      if (!units_.empty()) sealed.sensitivity = units_.back().sensitivity;  // rounding included
      auto& product = *static_cast<SymmetricProduct*>(value);
      product = [inner = std::move(product), seen = sealed.products](const Vector& v, Vector& out) {
        inner(v, out);
        seen->push_back(out);
      };
    } else {
      world_.faults.push_back(fmt::format(
          "a sealed value of the unknown type {}: teach tests/neighbours/replay.cpp its norm",
          type.name()));
    }
    world_.releases.push_back(fmt::format("opened {} sensitivity {:a} {} {}",
                                          sealed.type,
                                          claim.sensitivity(),
                                          to_string(claim.relation()),
                                          to_string(claim.sampling())));
    world_.sealed.push_back(std::move(sealed));
    last_opened_ = world_.sealed.back().type;
    look_at_checkpoint();
  }

  void grid(double sensitivity, double reach, double rounding, double unit) override {
    units_.push_back({sensitivity, reach, unit});
    world_.releases.push_back(
        fmt::format("grid for {:a} of reach {:a} with rounding {:a}: unit {:a}",
                    sensitivity,
                    reach,
                    rounding,
                    unit));
  }

  void released(const std::type_info& type, void* value, const Event& event) override {
    const bool known =
        handle<Vector>(type, value, event) || handle<double>(type, value, event) ||
        handle<bool>(type, value, event) || handle<std::int64_t>(type, value, event) ||
        handle<Matrix>(type, value, event) || handle<GradientHessian>(type, value, event) ||
        handle<SignedCoordinate>(type, value, event);
    if (!known)
      world_.faults.push_back(fmt::format(
          "an answer of the unknown type {}: teach tests/neighbours/replay.cpp", type.name()));
    look_at_checkpoint();
    if (options_.interrupt_after && std::ssize(world_.answers) == *options_.interrupt_after)
      request_stop();  // as a signal does
  }

  /// A finished run takes its checkpoint away: what it held is kept here, after each release.
  void look_at_checkpoint() {
    if (!fs::exists("run.ckpt")) return;
    std::string text = without_digest(TempDir::read("run.ckpt"));
    if (text == last_checkpoint_) return;
    world_.artifacts["checkpoint"] += text + "\n";
    last_checkpoint_ = std::move(text);
  }

 private:
  struct Unit {
    double sensitivity, reach, unit;
  };

  template <class T>
  bool handle(const std::type_info& type, void* value, const Event& event) {
    if (type != typeid(T)) return false;
    T& answer = *static_cast<T*>(value);
    const std::string word = event_word(event);
    world_.releases.push_back(fmt::format("released {} of {}", type_name<T>(), to_string(event)));
    std::string mechanism = "?";
    for (const MechanismLine& line : kMechanisms)
      if (line.answers == std::string(type_name<T>()) && line.event == word &&
          line.opens == last_opened_)
        mechanism = line.name;
    if (mechanism == "?")
      world_.faults.push_back(fmt::format(
          "no mechanism of kMechanisms opens {}, answers {} and charges {}: give it a line",
          last_opened_,
          type_name<T>(),
          word));
    world_.mechanisms.push_back(mechanism);
    look_at_grid(answer, mechanism);
    if (std::is_same_v<T, std::int64_t> && !world_.sealed.empty()) note_scores(event);
    if (a_) {
      const std::size_t place = world_.answers.size();
      if (place < a_->answers.size() && std::holds_alternative<T>(a_->answers[place]))
        answer = std::get<T>(a_->answers[place]);
      else
        world_.faults.push_back(fmt::format("answer {} has no partner in world A", place));
    }
    world_.answers.push_back(answer);
    return true;
  }

  /// The attack itself: an answer that is not on the grid that its claim gives is on another one.
  template <class T>
  void look_at_grid(const T& answer, const std::string& mechanism) {
    if (units_.empty()) return;
    const double unit = units_.back().unit;
    bool fine = true;
    if constexpr (std::is_same_v<T, Vector>) {
      if (mechanism == "GaussianMechanism")
        for (const double entry : answer) fine = fine && on_grid(entry, unit);
    } else if constexpr (std::is_same_v<T, Matrix>) {
      if (mechanism == "SymmetricGaussianMechanism")
        for (const double entry : answer.diagonal()) fine = fine && on_grid(entry, unit);
    } else if constexpr (std::is_same_v<T, double>) {
      if (mechanism == "LaplaceMechanism") fine = on_grid(answer, unit, 0.5);
    }
    if (!fine)
      world_.faults.push_back(fmt::format("an answer of {} is not on its grid", mechanism));
  }

  /// Scores are measured by their largest change, and monotone ones have twice the reach.
  void note_scores(const Event& event) {
    Sealed& scores = world_.sealed.back();
    scores.largest = true;
    double epsilon = 0;
    if (const auto* selection = std::get_if<ExponentialEvent>(&event.node()))
      epsilon = selection->epsilon;
    scores.monotone =
        epsilon > 0 && !units_.empty() && units_.back().reach > 0.75 * std::ldexp(epsilon, 30);
  }

  World& world_;
  const World* a_;
  RunOptions options_;
  std::vector<Unit> units_;
  std::string last_opened_;
  std::string last_checkpoint_;
};

/// stdout and stderr into files, for as long as it lives.
class Redirected {
 public:
  Redirected() {
    flush();
    for (int k = 0; k < 2; ++k) {
      saved_[k] = ::dup(k + 1);
      const int file = ::open(kNames[k], O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(file, k + 1);
      ::close(file);
    }
  }
  ~Redirected() {
    flush();
    for (int k = 0; k < 2; ++k) {
      ::dup2(saved_[k], k + 1);
      ::close(saved_[k]);
    }
  }
  static constexpr const char* kNames[2] = {"stdout", "stderr"};

 private:
  static void flush() {
    std::fflush(stdout);
    std::fflush(stderr);
  }
  int saved_[2];
};

std::string artifact_name(const std::string& file) {
  static const std::map<std::string, std::string> kNames = {{"model.json", "model"},
                                                            {"model.json.journal", "journal"},
                                                            {"run.json", "record"},
                                                            {"run.html", "report"},
                                                            {"run.svg", "plot"},
                                                            {"run.ckpt", "checkpoint file"},
                                                            {"stdout", "stdout"},
                                                            {"stderr", "stderr"}};
  const auto found = kNames.find(file);
  return found == kNames.end() ? "file " + file : found->second;
}

/// Without a seed a run's name is drawn from the operating system and says nothing of any row. Nor
/// do checksums of the journal's lines, which are compared letter by letter.
void take_out_names(World& world) {
  static const std::regex kChain("(\"(?:journal_)?chain\": ?\")[0-9a-f]{64}\"");
  for (auto& [artifact, text] : world.artifacts)
    text = std::regex_replace(text, kChain, "$1CHAIN\"");
  static const std::regex kName("\"run\": ?\"([0-9a-f]{32})\"");
  const auto journal = world.artifacts.find("journal");
  std::smatch match;
  if (journal == world.artifacts.end() || !std::regex_search(journal->second, match, kName)) return;
  const std::string name = match[1];
  for (auto& [artifact, text] : world.artifacts)
    for (std::size_t place; (place = text.find(name)) != text.npos;)
      text.replace(place, name.size(), "RUN");
}

std::string first_difference(const std::string& a, const std::string& b) {
  const auto place = static_cast<std::size_t>(
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  const auto near = [&](const std::string& text) {
    const std::size_t begin = place < 40 ? 0 : place - 40;
    return begin >= text.size() ? std::string("(its end)") : text.substr(begin, 90);
  };
  return fmt::format("at byte {}:\n    A: {}\n    B: {}", place, near(a), near(b));
}

double distance(const Sealed& a, const Sealed& b) {
  if (a.products) {
    double length = 0;
    for (std::size_t k = 0; k < std::min(a.products->size(), b.products->size()); ++k)
      length = std::hypot(length, ((*a.products)[k] - (*b.products)[k]).stableNorm());
    return length;
  }
  if (a.coordinates.size() != b.coordinates.size() || a.integers.size() != b.integers.size())
    return std::numeric_limits<double>::infinity();
  if (!a.integers.empty()) {
    double largest = 0;
    for (std::size_t k = 0; k < a.integers.size(); ++k)
      largest = std::max(largest, std::abs(static_cast<double>(a.integers[k] - b.integers[k])));
    return largest;
  }
  const Vector move = a.coordinates - b.coordinates;
  return a.largest ? move.lpNorm<Eigen::Infinity>() : move.stableNorm();  // of tiny ones, too
}

/// Whether all scores moved up, or all down, as far as rounding lets them.
bool moves_one_way(const Sealed& a, const Sealed& b) {
  const Vector move = a.coordinates - b.coordinates;
  const double slack = 1e-9 * a.sensitivity;
  return move.minCoeff() >= -slack || move.maxCoeff() <= slack;
}

}  // namespace

const std::vector<MechanismLine> kMechanisms = {
    {"GaussianMechanism", "Vector", "Vector", "gaussian"},
    {"SymmetricGaussianMechanism", "Matrix", "Matrix", "gaussian"},
    {"JointGaussianMechanism", "GradientHessian", "GradientHessian", "gaussian"},
    {"LazySymmetricOperator", "SymmetricProduct", "Vector", "gaussian"},
    {"LaplaceMechanism", "double", "double", "laplace"},
    {"ExponentialMechanism", "Vector", "int64", "exponential"},
    {"PermuteAndFlip", "Vector", "int64", "sparse_vector"},
    {"CoordinateSelection", "CoordinateScores", "SignedCoordinate", "exponential"},
    {"SparseVectorSession", "double", "bool", "sparse_vector"},
};

const std::vector<std::string> kCompared = {"model",
                                            "record",
                                            "journal",
                                            "checkpoint",
                                            "checkpoint file",
                                            "stdout",
                                            "stderr",
                                            "report",
                                            "plot",
                                            "exit code",
                                            "releases",
                                            "sums",
                                            "other files",
                                            "data info",
                                            "dry run"};

World run_world(const Files& files,
                const Program& program,
                const World* a,
                const RunOptions& options) {
  const TempDir dir;
  for (const auto& [name, content] : files) dir.write(name, content);
  const fs::path before = fs::current_path();
  fs::current_path(dir.file(""));
  World world;
  forget_stop();
  {
    const Redirected redirected;
    Listener listener(world, a, options);
    ReleaseTap* earlier = listen_to_releases(&listener);
    world.exit_code = program();
    listen_to_releases(earlier);
    listener.look_at_checkpoint();
  }
  forget_stop();
  for (const auto& entry : fs::recursive_directory_iterator("."))
    if (const std::string name = fs::relative(entry.path(), "."); !files.contains(name))
      world.artifacts[artifact_name(name)] =
          entry.is_regular_file() ? without_digest(TempDir::read(name)) : "a folder";
  fs::current_path(before);
  take_out_names(world);
  return world;
}

Program sotto_program(Words arguments) {
  return [arguments = std::move(arguments)] { return app::run_command_line(arguments); };
}

double largest_share(const World& a, const World& b) {
  double largest = 0;
  for (std::size_t k = 0; k < std::min(a.sealed.size(), b.sealed.size()); ++k)
    largest = std::max(largest, distance(a.sealed[k], b.sealed[k]) / a.sealed[k].sensitivity);
  return largest;
}

std::vector<std::string> differences(const World& a, const World& b) {
  std::vector<std::string> found = a.faults;
  found.insert(found.end(), b.faults.begin(), b.faults.end());
  if (a.exit_code != b.exit_code)
    found.push_back(fmt::format("exit code: A {}, B {}", a.exit_code, b.exit_code));
  std::map<std::string, std::pair<const std::string*, const std::string*>> artifacts;
  for (const auto& [name, text] : a.artifacts) artifacts[name].first = &text;
  for (const auto& [name, text] : b.artifacts) artifacts[name].second = &text;
  for (const auto& [name, texts] : artifacts) {
    if (!texts.first || !texts.second)
      found.push_back(fmt::format("{}: only world {} has it", name, texts.first ? "A" : "B"));
    else if (*texts.first != *texts.second)
      found.push_back(fmt::format("{}: {}", name, first_difference(*texts.first, *texts.second)));
  }
  const std::size_t both = std::min(a.releases.size(), b.releases.size());
  for (std::size_t k = 0; k < both; ++k)
    if (a.releases[k] != b.releases[k]) {
      found.push_back(
          fmt::format("releases: line {}:\n    A: {}\n    B: {}", k, a.releases[k], b.releases[k]));
      break;
    }
  if (a.releases.size() != b.releases.size())
    found.push_back(
        fmt::format("releases: A has {} lines, B has {}", a.releases.size(), b.releases.size()));
  for (std::size_t k = 0; k < std::min(a.sealed.size(), b.sealed.size()); ++k) {
    const double far = distance(a.sealed[k], b.sealed[k]);
    if (!(far <= a.sealed[k].sensitivity))
      found.push_back(fmt::format("sums: the {} of release {} moves by {} of a claimed {}",
                                  a.sealed[k].type,
                                  k,
                                  far,
                                  a.sealed[k].sensitivity));
    else if (a.sealed[k].monotone && !moves_one_way(a.sealed[k], b.sealed[k]))
      found.push_back(fmt::format("sums: the scores of release {} move both ways", k));
  }
  return found;
}

}  // namespace sotto::testing
