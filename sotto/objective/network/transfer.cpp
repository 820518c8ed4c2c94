#include "sotto/objective/network/transfer.hpp"

#include <fmt/format.h>

#include <vector>

namespace sotto {

Expected<Vector> begun_from(const NetworkSpec& spec,
                            Vector all,
                            const NetworkSpec& other,
                            const Vector& other_all) {
  const auto ranges = parameter_ranges(spec);
  const auto others = parameter_ranges(other);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    bool same = i < others.size() && ranges[i].count() == others[i].count();
    if (same) {
      LayerSpec mine = spec.layers[i];
      mine.frozen = other.layers[i].frozen;
      same = mine == other.layers[i];
    }
    if (same)
      all.segment(ranges[i].begin, ranges[i].count()) =
          other_all.segment(others[i].begin, others[i].count());
    else if (spec.layers[i].frozen)
      return fail(
          ErrorKind::kUsage,
          fmt::format("layer {} is frozen, but the network it should come from has another layer "
                      "there.",
                      i + 1));
  }
  return all;
}

Vector trained_part(const NetworkSpec& spec, const Vector& all) {
  std::vector<double> part;
  const auto ranges = parameter_ranges(spec);
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (!spec.layers[i].frozen)
      part.insert(part.end(),
                  all.data() + ranges[i].begin,
                  all.data() + ranges[i].begin + ranges[i].count());
  return Eigen::Map<const Vector>(part.data(), static_cast<Eigen::Index>(part.size()));
}

void put_trained_part(const NetworkSpec& spec, const Vector& trained, Vector& all) {
  Eigen::Index next = 0;
  const auto ranges = parameter_ranges(spec);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (spec.layers[i].frozen) continue;
    all.segment(ranges[i].begin, ranges[i].count()) = trained.segment(next, ranges[i].count());
    next += ranges[i].count();
  }
}

Vector with_trained_part(const NetworkSpec& spec, Vector all, const Vector& trained) {
  put_trained_part(spec, trained, all);
  return all;
}

}  // namespace sotto
