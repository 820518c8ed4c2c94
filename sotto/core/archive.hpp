#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/core/vector.hpp"

namespace sotto {

/// Names the parts of a state one after the other. The same visitor saves and loads them, so that
/// the two can't drift apart:
///
///   void archive(Archive& state) { state("step", t, 0, T)("iterate", w); }
///
/// An archive that loads checks every part's name, kind and range (training/checkpoint.hpp); from
/// the first failure on it leaves values as they are.
class Archive {
 public:
  virtual ~Archive() = default;

  virtual bool loading() const = 0;
  /// What was loaded makes no sense, whatever the ranges of its numbers; saving, this is no matter.
  virtual void refuse(const std::string& what) { static_cast<void>(what); }

  Archive& operator()(std::string_view name,
                      std::int64_t& value,
                      std::int64_t lowest,
                      std::int64_t highest) {
    integer(full(name), value, lowest, highest);
    return *this;
  }
  Archive& operator()(std::string_view name, double& value, double lowest, double highest) {
    number(full(name), value, lowest, highest);
    return *this;
  }
  /// As long as the model has parameters.
  Archive& operator()(std::string_view name, Vector& value) {
    vector(full(name), value);
    return *this;
  }
  /// One column or more, each as long as the model has parameters.
  Archive& operator()(std::string_view name, Matrix& value) {
    for (Eigen::Index k = 0; k < value.cols(); ++k) {
      Vector column = value.col(k);
      (*this)(std::string(name) + "." + std::to_string(k), column);
      value.col(k) = column;
    }
    return *this;
  }
  Archive& operator()(std::string_view name, std::vector<double>& values, std::size_t most) {
    numbers(full(name), values, most);
    return *this;
  }
  Archive& operator()(std::string_view name, std::string& value) {
    text(full(name), value);
    return *this;
  }
  /// At most `most` parts, each of which may be anything that an archive takes without a range.
  template <class T>
  Archive& operator()(std::string_view name, std::vector<T>& list, std::size_t most) {
    auto count = static_cast<std::int64_t>(list.size());
    (*this)(std::string(name) + ".count", count, 0, static_cast<std::int64_t>(most));
    list.resize(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < list.size(); ++k)
      (*this)(std::string(name) + "." + std::to_string(k), list[k]);
    return *this;
  }
  /// A part that has an archive() of its own.
  template <class T>
  requires requires(T& part, Archive& archive) { part.archive(archive); }
  Archive& operator()(std::string_view name, T& part) {
    const std::string outside = std::exchange(prefix_, full(name) + ".");
    part.archive(*this);
    prefix_ = outside;
    return *this;
  }

 protected:
  virtual void integer(const std::string& name,
                       std::int64_t& value,
                       std::int64_t lowest,
                       std::int64_t highest) = 0;
  virtual void number(const std::string& name, double& value, double lowest, double highest) = 0;
  virtual void vector(const std::string& name, Vector& value) = 0;
  virtual void numbers(const std::string& name, std::vector<double>& values, std::size_t most) = 0;
  virtual void text(const std::string& name, std::string& value) = 0;

 private:
  std::string full(std::string_view name) const { return prefix_ + std::string(name); }
  std::string prefix_;
};

/// A visitor of some state, e.g. a lambda that names local variables.
using Archived = std::function<void(Archive&)>;

}  // namespace sotto
