#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sotto/audit/claim.hpp"
#include "sotto/audit/judge.hpp"
#include "sotto/audit/known_price.hpp"
#include "sotto/privacy/sampling.hpp"
#include "sotto/random/stream.hpp"

namespace sotto {

/// White-box audit of one mechanism: one release on inputs that are as far apart as the declared
/// sensitivity allows, in the direction that is worst for it; with sampling, the record is in the
/// batch with the sampling's rate.
class MechanismAudit {
 public:
  /// Releases `present` (whether the canary is in the batch) with a receipt for `event`, and scores
  /// the answer. The claim that it seals has sensitivity 1 / `lie`: 1 is honest, larger lies make
  /// the noise too small (for tests of the audit itself).
  using Release = std::function<double(int world,
                                       bool present,
                                       Receipt receipt,
                                       const Sampling& sampling,
                                       double lie,
                                       Stream& noise)>;

  const std::string& name() const { return name_; }
  const Claim& claim() const { return *claim_; }
  /// The runs' scores under a lie; 1 is the mechanism as it is.
  Trial trial(double lie = 1, std::uint64_t seed = 1) const;

 private:
  friend Expected<std::vector<MechanismAudit>> mechanism_audits(double epsilon, double delta);
  static Expected<MechanismAudit> make(std::string name,
                                       const EventFamily& inner,
                                       std::int64_t samples,
                                       const Sampling& sampling,
                                       double parameter,
                                       double delta,
                                       Release release);

  std::string name_;
  Sampling sampling_;
  std::shared_ptr<const Event> event_;
  std::int64_t samples_ = 1;
  double delta_ = 0;
  std::shared_ptr<const KnownPrice> price_;
  std::shared_ptr<const Claim> claim_;
  Release release_;
};

/// Every mechanism, alone and on Poisson batches where it has that form, with noise for about
/// `epsilon` when alone. 0 < epsilon, 0 < delta < 1.
Expected<std::vector<MechanismAudit>> mechanism_audits(double epsilon, double delta);

}  // namespace sotto
