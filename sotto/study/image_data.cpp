#include "sotto/study/image_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sotto/core/numbers.hpp"
#include "sotto/data/load.hpp"
#include "sotto/model/model.hpp"
#include "sotto/objective/network/features.hpp"
#include "sotto/objective/network/transfer.hpp"
#include "sotto/task/network_family.hpp"
#include "sotto/training/train.hpp"

namespace sotto::study {
namespace {

namespace fs = std::filesystem;

/// "images,labels" of an IDX pair, or a file or folder in CIFAR's binary format.
Expected<Table> images_below(const std::vector<std::string>& folders,
                             const std::string& names,
                             const std::string& format,
                             std::int64_t rows) {
  LoadOptions options;
  SOTTO_ASSIGN(options.format, parse_format(format));
  options.labels = LabelKind::kMulticlass;
  options.layout = Layout::kDense;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    SOTTO_ASSIGN(const std::string path, file_below(folders, names.substr(begin, end - begin)));
    options.path += (begin > 0 ? "," : "") + path;
    begin = end + 1;
  }
  SOTTO_ASSIGN(Dataset data, load_table(options));
  if (rows > 0 && rows < data.table.rows()) return first_rows(data.table, rows, kInfinity);
  return std::move(data.table);
}

Expected<NetworkSpec> network_for(const DataSpec& data,
                                  const std::string& model,
                                  std::int64_t features,
                                  std::int64_t classes) {
  SOTTO_ASSIGN(NetworkSpec spec, builtin_network(model, features, classes));
  // One number stands for all channels: softmax regression takes every pixel for one.
  const auto by_channel = [&](const std::vector<double>& numbers) {
    return numbers.size() == 1
               ? std::vector(static_cast<std::size_t>(spec.input.channels), numbers[0])
               : numbers;
  };
  spec.mean = by_channel(data.mean);
  spec.deviation = by_channel(data.deviation);
  SOTTO_TRY(shapes_of(spec));
  return spec;
}

/// The network, trained on the public set without privacy; all its parameters.
Expected<std::pair<NetworkSpec, Vector>> public_network(const DataSpec& data,
                                                        const std::string& model,
                                                        const std::vector<std::string>& folders,
                                                        const std::string& keep,
                                                        std::int64_t rows,
                                                        const ShowProgress& progress) {
  const PublicTraining& how = *data.public_training;
  const std::string path = fmt::format("{}/{}-{}-{}-epochs{}.json",
                                       keep,
                                       model,
                                       how.name,
                                       how.epochs,
                                       rows > 0 ? fmt::format("-{}-rows", rows) : std::string());
  if (!keep.empty() && fs::exists(path)) {
    SOTTO_ASSIGN(const Model kept, load_model(path));
    SOTTO_ASSIGN(NetworkSpec spec, parse_network(kept.network, path));
    return std::pair{std::move(spec), kept.w};
  }
  SOTTO_ASSIGN(const Table table, images_below(folders, how.train, "cifar100", rows));
  SOTTO_ASSIGN(NetworkSpec spec, network_for(data, model, table.dim(), how.classes));
  const NetworkFamily family(spec, initial_weights(spec, 0), Regularizer(), Dataset{});
  SOTTO_ASSIGN(const auto engine, family.engine(table));
  // Pre-training reads a public set, not privately.
  const PublicProblem problem =
      family.problem(std::int64_t{table.units()}, Relation::kZeroOut, /*persons=*/false);
  TrainOptions options;
  options.method = "sgd";
  options.options = {{"expected_batch", fmt::format("{}", std::min<std::int64_t>(128, problem.n))},
                     {"epochs", fmt::format("{}", how.epochs)},
                     {"step_size", fmt::format("{}", how.step_size)},
                     {"momentum", "0.9"},
                     {"schedule", "linear"}};
  options.seed = 1;
  RunWatch watch(fmt::format("{} on {}, without privacy", model, how.name), progress);
  SOTTO_ASSIGN(PreparedRun prepared, prepare(problem, options));
  SOTTO_ASSIGN(TrainResult result, train(*engine, problem, options, std::move(prepared), watch));
  if (watch.stopped()) return interrupted();
  if (!keep.empty()) {
    Model made;
    made.method = options.method;
    family.describe(made);
    made.w = result.w;
    SOTTO_TRY(save_model(made, path));
  }
  return std::pair{std::move(spec), std::move(result.w)};
}

Expected<FrozenFeatures> features_of(const Table& images,
                                     const NetworkSpec& spec,
                                     const Vector& all) {
  SOTTO_ASSIGN(auto features, frozen_features(images, spec, all));
  if (features.has_value()) return std::move(features.value());
  return fail(ErrorKind::kUsage, "public convolutions need a model that begins with some.");
}

/// What frozen convolutions make of the images, and the layers that are left.
Expected<void> see_through_convolutions(DataSet& set,
                                        const NetworkSpec& other,
                                        const Vector& weights) {
  NetworkSpec& spec = set.network->spec;
  for (auto& layer : spec.layers) layer.frozen = layer.kind == LayerKind::kConv;
  SOTTO_ASSIGN(const Vector all, begun_from(spec, set.network->w, other, weights));
  if (set.test) {
    SOTTO_ASSIGN(FrozenFeatures test, features_of(*set.test, spec, all));
    set.test = std::move(test.table);
  }
  SOTTO_ASSIGN(FrozenFeatures train, features_of(set.train, spec, all));
  set.train = std::move(train.table);
  set.network = NetworkStart{std::move(train.rest), trained_part(spec, all)};
  return {};
}

}  // namespace

bool are_images(const DataSpec& spec) {
  return spec.kind == DataKind::kIdx || spec.kind == DataKind::kCifar;
}

Expected<DataSet> load_images(const DataSpec& spec,
                              const std::string& model,
                              const std::vector<std::string>& folders,
                              const std::string& keep,
                              std::int64_t rows,
                              const ShowProgress& progress) {
  const std::string format = spec.kind == DataKind::kCifar ? "cifar10" : "idx";
  DataSet set;
  SOTTO_ASSIGN(set.train, images_below(folders, spec.train, format, rows));
  if (!spec.test.empty()) {
    SOTTO_ASSIGN(set.test, images_below(folders, spec.test, format, 0));
  }
  set.row_norm = kInfinity;
  SOTTO_ASSIGN(NetworkSpec network, network_for(spec, model, set.train.dim(), 10));
  Vector start = initial_weights(network, 0);
  set.network = NetworkStart{std::move(network), std::move(start)};
  if (!spec.public_training) return set;
  SOTTO_ASSIGN(const auto given, public_network(spec, model, folders, keep, rows, progress));
  SOTTO_TRY(see_through_convolutions(set, given.first, given.second));
  return set;
}

}  // namespace sotto::study
