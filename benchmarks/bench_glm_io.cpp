// Reading LIBSVM files against scikit-learn's load_svmlight_file on the same files in the same run,
// and the peak memory of reading a large table. One JSON line per figure.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sotto/data/io/csv.hpp"
#include "sotto/data/io/libsvm.hpp"
#include "sotto/data/io/npy.hpp"
#include "sotto/data/io/output_file.hpp"

namespace {

using namespace sotto;

constexpr int kRepeats = 5;
constexpr double kSpeedBound = 5;

void print(const std::string& name, const char* ratio, double value, double bound, bool holds) {
  fmt::print(R"({{"bench": "io", "case": "{}", "ratio": "{}", "value": {:.4g}, "bound": {:.4g}, )"
             R"("holds": {}}})"
             "\n",
             name,
             ratio,
             value,
             bound,
             holds);
  std::fflush(stdout);
}

void print_missing(const std::string& name, const char* ratio, double bound, const char* reason) {
  fmt::print(R"({{"bench": "io", "case": "{}", "ratio": "{}", "value": null, "bound": {:.4g}, )"
             R"("holds": null, "reason": "{}"}})"
             "\n",
             name,
             ratio,
             bound,
             reason);
  std::fflush(stdout);
}

/// Made-up rows, from which facts may be taken.
ReadOptions public_rows(Layout layout = Layout::kAuto) {
  ReadOptions options;
  options.public_rows = true;
  options.layout = layout;
  return options;
}

double our_seconds(const std::string& path) {
  double best = 1e9;
  for (int i = 0; i < kRepeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto data = read_libsvm(path, public_rows());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (!data) {
      fmt::print(stderr, "{}\n", data.error().message);
      std::exit(1);
    }
    best = std::min(best, took.count());
  }
  return best;
}

/// Best of several reads by scikit-learn, without the time to import it.
std::optional<double> peer_seconds(const std::string& path) {
  const std::string script =
      "import sys, time\n"
      "from sklearn.datasets import load_svmlight_file\n"
      "best = 1e9\n"
      "for _ in range(3):\n"
      "    start = time.perf_counter()\n"
      "    load_svmlight_file(sys.argv[1])\n"
      "    best = min(best, time.perf_counter() - start)\n"
      "print(best)\n";
  const std::string command =
      fmt::format("/usr/bin/python3 -c '{}' '{}' 2>/dev/null", script, path);
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  double seconds = 0;
  const int fields = std::fscanf(pipe, "%lf", &seconds);
  return pclose(pipe) == 0 && fields == 1 ? std::optional(seconds) : std::nullopt;
}

void compare(const std::string& name, const std::string& path) {
  constexpr const char* kRatio = "scikit-learn load_svmlight_file seconds / sotto seconds";
  if (!std::filesystem::exists(path))
    return print_missing(name, kRatio, kSpeedBound, "the data set is not there");
  const double ours = our_seconds(path);
  const std::optional<double> peer = peer_seconds(path);
  if (!peer) return print_missing(name, kRatio, kSpeedBound, "scikit-learn is not installed");
  print(name, kRatio, *peer / ours, kSpeedBound, *peer / ours >= kSpeedBound);
}

std::uint64_t state = 1;
std::uint64_t next_random() {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return state >> 33;
}

bool generate(const std::string& path, std::int64_t rows, const std::function<std::string()>& row) {
  auto file = OutputFile::create(path);
  if (!file) return false;
  for (std::int64_t i = 0; i < rows; ++i) file->write(row());
  return file->commit().has_value();
}

std::string libsvm_row(int dim, int step) {
  std::string row = next_random() % 2 == 0 ? "+1" : "-1";
  for (auto j = 1 + static_cast<int>(next_random() % static_cast<unsigned>(step)); j <= dim;
       j += 1 + static_cast<int>(next_random() % static_cast<unsigned>(2 * step - 1)))
    fmt::format_to(std::back_inserter(row),
                   " {}:{:.6g}",
                   j,
                   static_cast<double>(next_random() % 2000001) * 1e-6 - 1);
  return row + "\n";
}

/// A .npy pair of 64 float32 features.
bool write_array_pair(const std::string& features, const std::string& labels, std::int64_t rows) {
  TableBuilder builder(64, false, {});
  const TableBuilder::Piece all{rows, rows * 64};
  auto writers = builder.extend({&all, 1});
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int32_t j = 0; j < 64; ++j)
      writers[0].add(j, static_cast<float>(next_random() % 1000) * 1e-3F);
    writers[0].end_row(i % 2 == 0 ? 1.0F : -1.0F);
  }
  builder.commit(writers);
  return write_npy(features, labels, std::move(builder).finish()).has_value();
}

/// Reads a table in a child process; peak memory there over 1.3 x table + 32 MB.
void measure_memory(const std::string& name, const std::function<Expected<Dataset>()>& read) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    const auto data = read();
    const double bytes = data ? static_cast<double>(data->table.bytes()) : 0;
    const bool sent = write(ends[1], &bytes, sizeof bytes) == sizeof bytes;
    _exit(sent && data ? 0 : 1);
  }
  close(ends[1]);
  double bytes = 0;
  const bool received = ::read(ends[0], &bytes, sizeof bytes) == sizeof bytes;
  close(ends[0]);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  constexpr const char* kRatio = "peak memory of reading / (1.3 x table + 32 MB)";
  if (!received || status != 0 || bytes < 100e6)
    return print_missing(name, kRatio, 1, "the table could not be read");
  const double peak = static_cast<double>(usage.ru_maxrss) * 1024;
  const double value = peak / (1.3 * bytes + 32e6);
  print(fmt::format("{}, table {:.0f} MB, peak {:.0f} MB", name, bytes / 1e6, peak / 1e6),
        kRatio,
        value,
        1,
        value <= 1);
}

/// Runs a program to its end; its seconds and peak memory, or nothing if it failed.
struct Finished {
  double seconds;
  double peak_bytes;
};
std::optional<Finished> run_program(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (status != 0) return std::nullopt;
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  return Finished{time.count(), static_cast<double>(usage.ru_maxrss) * 1024};
}

/// `sotto train` as users run it, on a table of 100 MB and more.
void measure_train_memory(const std::string& data, const std::string& model, double table_bytes) {
  constexpr const char* kRatio = "peak memory of train / (1.3 x table + 32 MB)";
  const auto run = run_program({SOTTO_BINARY,
                                "train",
                                "--again",
                                "--epsilon",
                                "1",
                                "--delta",
                                "1e-7",
                                "--no-bias",  // the table is the file's
                                "--row-norm",
                                "1",
                                "--steps",
                                "5",
                                data,
                                model});
  if (!run || table_bytes < 100e6) return print_missing("train", kRatio, 1, "train failed");
  const double value = run->peak_bytes / (1.3 * table_bytes + 32e6);
  print(fmt::format("dense libsvm, table {:.0f} MB, peak {:.0f} MB",
                    table_bytes / 1e6,
                    run->peak_bytes / 1e6),
        kRatio,
        value,
        1,
        value <= 1);
}

/// Five whole private runs on a9a against one scikit-learn script that loads the same file.
void compare_whole_runs(const std::string& a9a,
                        const std::string& a9a_test,
                        const std::string& model) {
  constexpr const char* kRatio =
      "five runs of sotto train / one scikit-learn LogisticRegression script";
  constexpr const char* kScript =
      "import sys\n"
      "from sklearn.datasets import load_svmlight_file\n"
      "from sklearn.linear_model import LogisticRegression\n"
      "X, y = load_svmlight_file(sys.argv[1])\n"
      "LogisticRegression(max_iter=1000).fit(X, y)\n";
  if (!std::filesystem::exists(a9a)) return print_missing("a9a", kRatio, 1, "no shared data set");
  const auto peer = run_program({"/usr/bin/python3", "-c", kScript, a9a});
  if (!peer) return print_missing("a9a", kRatio, 1, "no scikit-learn");
  double ours = 0;
  for (int k = 0; k < 5; ++k) {
    const auto run =
        run_program({SOTTO_BINARY,   "train",       "--again",       "--method",       "dp-gd",
                     "--loss",       "logistic",    "--regularizer", "nonconvex:1e-3", "--row-norm",
                     "3.7417",       "--epsilon",   "0.2",           "--delta",        "1e-5",
                     "--neighbours", "replace-one", "--test",        a9a_test,         a9a,
                     model});
    if (!run) return print_missing("a9a", kRatio, 1, "train failed");
    ours += run->seconds;
  }
  print("a9a, dp-gd", kRatio, ours / peer->seconds, 1, ours <= peer->seconds);
}

}  // namespace

int main() {
  std::string pattern = (std::filesystem::temp_directory_path() / "sotto-bench-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(pattern.data());
  const std::string dense = folder / "dense.svm";
  const std::string sparse = folder / "sparse.svm";
  const std::string csv = folder / "persons.csv";
  const std::string npy = folder / "X.npy";
  const std::string npy_labels = folder / "y.npy";
  constexpr std::int64_t kNpyRows = 500000;
  bool made = write_array_pair(npy, npy_labels, kNpyRows);
  made = made && generate(dense, 500000, [] { return libsvm_row(54, 1); });
  made = made && generate(sparse, 700000, [] { return libsvm_row(2000, 90); });
  made = made && generate(csv, 600000, [] {
           return fmt::format("{},{},{},{},{}\n",
                              next_random() % 300000,
                              next_random() % 100,
                              next_random() % 50,
                              next_random() % 40,
                              next_random() % 2);
         });
  if (!made) {
    fmt::print(stderr, "can't write to {}\n", folder.string());
    return 1;
  }

  // Memory first: a child starts with its parent's pages, and without its threads.
  measure_memory("libsvm, dense", [&] { return read_libsvm(dense, public_rows(Layout::kDense)); });
  measure_memory("libsvm, sparse",
                 [&] { return read_libsvm(sparse, public_rows(Layout::kSparse)); });
  const auto read_persons = [&](Layout layout) {
    return [&csv, layout]() -> Expected<Dataset> {
      std::string toml = "[[column]]\nname='who'\nkind='unit'\n";
      for (const auto& [name, values] :
           {std::pair("a", 100), std::pair("b", 50), std::pair("c", 40)}) {
        toml += fmt::format("[[column]]\nname='{}'\nkind='categorical'\nvalues=[", name);
        for (int v = 0; v < values; ++v) toml += fmt::format("{},", v);
        toml += "]\n";
      }
      toml += "[[column]]\nname='y'\nkind='label'\npositive=[1]\nnegative=[0]\n";
      SOTTO_ASSIGN(const Schema schema, Schema::parse(toml, "persons"));
      ReadOptions options;
      options.layout = layout;
      return read_csv(csv, schema, options);
    };
  };
  measure_memory("csv with persons, dense", read_persons(Layout::kDense));
  measure_memory("npy, float32",
                 [&]() -> Expected<Dataset> { return read_npy(npy, npy_labels, public_rows()); });

  const double dense_bytes = [&] {
    const auto data = read_libsvm(dense, public_rows(Layout::kDense));
    return data ? static_cast<double>(data->table.bytes()) : 0.0;
  }();
  measure_train_memory(dense, folder / "model.json", dense_bytes);
  const std::string libsvm = std::string(SOTTO_SHARED_DIR) + "/data/libsvm/";
  compare_whole_runs(libsvm + "a9a.gz", libsvm + "a9a.t.gz", folder / "model.json");

  compare("a9a.gz", std::string(SOTTO_SHARED_DIR) + "/data/libsvm/a9a.gz");
  const std::string plain = folder / "plain.svm";
  if (generate(plain, 100000, [] { return libsvm_row(54, 1); }))
    compare(fmt::format("plain, 100,000 x 54, {} MB", std::filesystem::file_size(plain) >> 20),
            plain);
  std::filesystem::remove_all(folder);
  return 0;
}
