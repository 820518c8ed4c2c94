#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/paths.hpp"

namespace sotto::app {

/// A verb of the command line, which knows what files its options name: before it does anything,
/// check_paths() sees that none that it writes is one that it reads, or another that it writes. An
/// option that takes a text must say what the text is, or it does not compile: so no file is
/// forgotten.
class Verb : public CLI::App {
 public:
  /// The files that an option's value means, once the command line is parsed.
  using Paths = std::function<std::vector<std::string>()>;

  Verb(const std::string& description, const std::string& name) : CLI::App(description, name) {}

  Verb* add_subcommand(const std::string& name, const std::string& description);

  /// Numbers.
  template <class T>
  CLI::Option* add_option(const std::string& names, T& variable, const std::string& help) {
    static_assert(!kIsText<T>,
                  "a text may be a path: add_word, add_input, add_output or add_folder says so");
    return CLI::App::add_option(names, variable, help);
  }
  /// A text that names no file, or files in a way of its own, which reads() or writes() tell.
  CLI::Option* add_word(const std::string& names, std::string& word, const std::string& help);
  CLI::Option* add_words(const std::string& names,
                         std::vector<std::string>& words,
                         const std::string& help);
  /// A file that is only read.
  CLI::Option* add_input(const std::string& names, std::string& path, const std::string& help);
  CLI::Option* add_inputs(const std::string& names,
                          std::vector<std::string>& paths,
                          const std::string& help);
  /// A file that is written, whether or not it is read before.
  CLI::Option* add_output(const std::string& names, std::string& path, const std::string& help);
  /// A folder in which the files have names of Sotto's choice.
  CLI::Option* add_folder(const std::string& names, std::string& folder, const std::string& help);
  CLI::Option* add_folders(const std::string& names,
                           std::vector<std::string>& folders,
                           const std::string& help);

  /// Files that follow from values of options.
  void reads(const std::string& what, Paths paths);
  void writes(const std::string& what, Paths paths);

  /// check_paths_differ() of all files of the verb that was given; and what it says goes to none
  /// of them.
  Expected<void> check_paths() const;

  /// How messages call an option: "--record", and "the model" for MODEL.
  static std::string called(const std::string& names);

 private:
  template <class T>
  static constexpr bool kIsText =
      std::is_same_v<T, std::string> || std::is_same_v<T, std::optional<std::string>> ||
      std::is_same_v<T, std::vector<std::string>>;
  struct Files {
    std::string what;
    Paths paths;
  };

  Verb(const std::string& description, const std::string& name, CLI::App* parent)
      : CLI::App(description, name, parent) {}
  void collect(std::vector<NamedPath>& read, std::vector<NamedPath>& written) const;

  std::vector<Verb*> children_;
  std::vector<Files> read_, written_;
};

}  // namespace sotto::app
