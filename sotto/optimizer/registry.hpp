#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/capabilities.hpp"
#include "sotto/core/error.hpp"
#include "sotto/optimizer/optimizer.hpp"
#include "sotto/optimizer/option_table.hpp"

namespace sotto {

/// What a method may look at when it picks a setting that the user left open: public facts only.
struct PublicFacts {
  PublicProblem problem;
  /// The noise multiplier that a single full-batch release would need for the whole budget: how
  /// noisy this problem is. 0 for methods that are not private.
  double single_release_multiplier = 0;
  /// A uniform number in [0, 1), drawn before anything else: for settings that are random (which
  /// iterate is returned), so that the run can be calibrated for them.
  double coin = 0.5;
  /// The share of the budget that the rdp filter charges for one Gaussian release with this noise
  /// multiplier on a batch drawn so; infinite if it would refuse it. Empty where no budget is
  /// given.
  std::function<double(const Sampling& sampling, double multiplier)> sampled_price = {};
  /// The budget, for parameters that a paper's theorem states; 0 where none is given.
  double epsilon = 0;
  double delta = 0;
};

/// A method with all settings decided, and where each came from.
struct ConfiguredMethod {
  std::unique_ptr<Optimizer> optimizer;
  std::vector<Setting> settings;
};

/// One row of `sotto methods`.
struct MethodInfo {
  std::string name;
  std::string summary;
  Capabilities needs = {};            ///< of the model: `prepare` compares it with what that offers
  std::string needs_of_problem = {};  ///< e.g. a bounded set: what `configure` asks for
  std::string guarantees;
  bool is_private = true;
  std::string source;  ///< bibliography keys
  std::string page;    ///< docs/reference/methods/<page>.md
  std::vector<OptionInfo> options;
  std::function<Expected<ConfiguredMethod>(const GivenOptions&, const PublicFacts&)> configure;
  bool constraints = false;  ///< keeps the weights in the problem's constraint set
};

/// `gradients; a bounded constraint set`, for people.
std::string needs_text(const MethodInfo& method);

const std::vector<MethodInfo>& methods();

/// By name; an unknown one is a usage error that lists the known ones.
Expected<const MethodInfo*> find_method(std::string_view name);

/// That the method has every option that was given; a usage error names the method, what it has,
/// and whose the option is.
Expected<void> check_options(const MethodInfo& method, const GivenOptions& given);

/// Other names of an option: short ones, and those that users of other tools know.
std::vector<std::string> aliases_of(std::string_view option);

}  // namespace sotto
