#pragma once

#include <map>
#include <string>

#include "sotto/optimizer/option_table.hpp"
#include "verb.hpp"

namespace sotto::app {

/// `--method` and every option that some method has, made from the methods' own tables. Whether the
/// chosen method knows an option is checked when it is configured.
class MethodArguments {
 public:
  std::string name = "dp-gd";

  void add_to(Verb& verb);
  GivenOptions given() const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace sotto::app
