#pragma once

#include <map>
#include <optional>
#include <string>

#include "sotto/optimizer/option_table.hpp"
#include "verb.hpp"

namespace sotto::app {

/// `--method` and every option that some method has, made from the methods' own tables. Whether the
/// chosen method knows an option is checked when it is configured. Help shows the options of the
/// method that is given beside --help, with that method's own words and defaults.
class MethodArguments {
 public:
  std::string name = "dp-gd";

  void add_to(Verb& verb);
  GivenOptions given() const;

 private:
  struct Entry {
    std::string value;
    std::optional<Option> option;
  };

  Expected<void> show_options(Verb& verb);

  std::map<std::string, Entry> entries_;
};

}  // namespace sotto::app
