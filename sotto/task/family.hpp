#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/data/load.hpp"
#include "sotto/model/metrics.hpp"
#include "sotto/model/model.hpp"
#include "sotto/oracle/api/public_problem.hpp"
#include "sotto/record/run_record.hpp"
#include "sotto/training/prepare.hpp"

namespace sotto {

class Engine;
class RowBlocks;

/// One model of a kind, linear or a network, but for its weights: how rows are read for it, what
/// training needs to know of it, and what it makes of rows. Front ends don't ask which kind it is.
/// Everything in it is public.
class Family {
 public:
  virtual ~Family() = default;

  /// Reads further *public* rows, as those that it was trained on: with its features, classes and
  /// scale. Rows that don't fit are refused in any case. `options` says where they are, with a
  /// schema of their own or none (the model's is then used).
  Expected<Dataset> read(LoadOptions options) const;
  /// The same block after block, to be scored (data/row_blocks.hpp): labels may be missing.
  Expected<std::unique_ptr<RowBlocks>> read_blocks(LoadOptions options) const;

  /// What is public about training it on n units. `persons`: some units are several rows.
  virtual PublicProblem problem(PublicCount n, Relation relation, bool persons) const = 0;
  /// The engine that sums over these rows, which outlive it. `slow`: it first computes what frozen
  /// layers make of all rows.
  virtual Expected<std::unique_ptr<Engine>> engine(const Table& rows) const = 0;
  virtual bool slow() const { return false; }
  /// Gradients per second on this machine; none where nothing was measured.
  virtual Expected<std::optional<double>> speed() const { return std::optional<double>(); }
  /// What a continued run must have in common with its first part, beside the public problem.
  virtual Facts facts() const = 0;

  /// Fills in what a model file and a record say of it.
  virtual void describe(Model& model) const = 0;
  virtual void describe(RunRecord& record) const = 0;
  /// All weights of the model, with those that were trained in their places. Asks for no memory if
  /// `all` has room.
  virtual void put(Vector& trained, Vector& all) const = 0;

  /// What the model makes of rows: `width` numbers for each, one row after the other.
  virtual Expected<std::vector<double>> outputs(const Table& rows, const Vector& all) const = 0;
  virtual std::int64_t width() const { return 1; }
  /// The predicted class, or the number.
  virtual std::string prediction(std::span<const double> outputs) const = 0;
  /// Of every row.
  Expected<std::vector<std::string>> predict(const Table& rows, const Vector& all) const;
  /// Of the second of two classes, or of each of more. kUsage if the model has none.
  virtual Expected<void> check_probabilities() const = 0;
  virtual std::vector<double> probabilities(std::span<const double> outputs) const = 0;
  /// Whether this program has all that evaluate() needs. kUsage: a loss of another program's own.
  virtual Expected<void> check_evaluation() const { return {}; }
  /// On public rows only. `outputs`: of these rows.
  virtual Expected<Metrics> evaluate(const Table& rows,
                                     const Vector& all,
                                     std::span<const double> outputs) const = 0;
  /// Iterates that are kept for a curve of metrics: fewer where each costs more.
  virtual std::int64_t most_test_points() const = 0;

  const std::vector<std::string>& class_names() const { return class_names_; }
  const std::vector<std::string>& feature_names() const { return feature_names_; }
  const std::string& schema() const { return schema_; }

 protected:
  Family() = default;
  /// Names and schema of the rows that it is trained on.
  explicit Family(const Dataset& data)
      : class_names_(data.class_names), feature_names_(data.feature_names), schema_(data.schema) {}
  explicit Family(const Model& model)
      : class_names_(model.class_names),
        feature_names_(model.feature_names),
        schema_(model.schema) {}

  /// The number of features, without an intercept.
  virtual std::int64_t features() const = 0;
  /// Labels, layout and scale as this model takes them.
  virtual void adapt(LoadOptions& options) const = 0;
  void describe_names(Model& model) const;
  std::string class_name(std::size_t c) const;

 private:
  /// With all that is known of rows that this model takes.
  LoadOptions completed(LoadOptions options) const;
  /// kUsage: a schema that was given beside the model has other features or classes, or has them in
  /// another order.
  Expected<void> check_schema(const LoadOptions& options) const;
  /// kBadData: rows with so many features, an intercept among them if there is one, are not of the
  /// model's kind.
  Expected<void> check_features(std::int64_t dim, const LoadOptions& options) const;

  std::vector<std::string> class_names_;
  std::vector<std::string> feature_names_;
  std::string schema_;
};

/// The family of a model that was trained. kBadData if its parts don't fit together.
Expected<std::unique_ptr<Family>> family_of(const Model& model);

}  // namespace sotto
