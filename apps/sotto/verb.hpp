#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/paths.hpp"

// CLI11 parses, and is included in verb.cpp alone: it takes seconds to compile.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sotto::app {

/// An option that a verb has: what help says of it, and what it takes.
class Option {
 public:
  /// Under which heading help lists it; empty: it is not listed.
  Option group(const std::string& name) const;
  /// What help says of it, instead of what it was added with.
  Option meaning(const std::string& help) const;
  /// What help calls its values, instead of INT, FLOAT or TEXT.
  Option type_name(const std::string& name) const;
  /// Help shows the value that the variable has now.
  Option show_default() const;
  Option required() const;
  Option range(int low, int high) const;
  /// A positive number of bytes, which may have a unit: 200GB.
  Option bytes() const;

 private:
  friend class Verb;
  explicit Option(CLI::Option* option) : option_(option) {}

  CLI::Option* option_;
};

/// A verb of the command line, which knows what files its options name: before it does anything,
/// check_paths() sees that none that it writes is one that it reads, or another that it writes. An
/// option that takes a text must say what the text is, or it does not compile: so no file is
/// forgotten.
class Verb {
 public:
  /// The files that an option's value means, once the command line is parsed.
  using Paths = std::function<std::vector<std::string>()>;
  /// What parsing leaves to be printed instead of running a verb.
  struct Answer {
    bool asked = false;  ///< for --help or --version; otherwise the command line is wrong
    std::string output;
    std::string message;
  };
  /// What an option with a long name has got.
  struct Value {
    std::string group;
    std::string name;  ///< without dashes before it
    std::string text;  ///< a flag's is "yes"; empty: neither given nor shown as a default
    bool given = false;
    bool typed = false;  ///< given, or a flag that was taken back
  };

  /// An option or argument, as man pages and completions describe it.
  struct Described {
    std::vector<std::string> names;  ///< `-q`, `--quiet`; an argument's is DATA
    std::string type;                ///< of its value; empty for a flag
    std::string help;
    std::string group;               ///< empty: it is a method's
    std::vector<std::string> words;  ///< its only values; empty: any
    bool is_argument() const { return !names.front().starts_with("-"); }
  };
  /// What a verb's help shows beside what is fixed, from what else was given with it.
  using BeforeHelp = std::function<Expected<void>()>;

  /// The program itself, whose subcommands are verbs.
  Verb(const std::string& description, const std::string& name);
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;

  Verb* add_subcommand(const std::string& name, const std::string& description);
  /// In the order in which they were added.
  const std::vector<std::unique_ptr<Verb>>& subcommands() const { return subcommands_; }
  /// Exactly one must be given.
  void require_subcommand();

  /// Numbers.
  template <class T>
  Option add_option(const std::string& names, T& variable, const std::string& help) {
    static_assert(!kIsText<T>,
                  "a text may be a path: add_word, add_input, add_output or add_folder says so");
    if constexpr (!kIsText<T>) return add_number(names, &variable, help);
  }
  Option add_flag(const std::string& names, bool& variable, const std::string& help);
  /// A flag that may be on to begin with: `--no-NAME` turns it off.
  Option add_switch(const std::string& name, bool& variable, const std::string& help);
  /// Prints the text and ends.
  void add_version(const std::string& names, const std::string& text);
  /// A text that names no file, or files in a way of its own, which reads() or writes() tell.
  Option add_word(const std::string& names, std::string& word, const std::string& help);
  /// May be given several times, each time with one value: they come with commas between them.
  Option add_list(const std::string& names, std::string& list, const std::string& help);
  Option add_words(const std::string& names,
                   std::vector<std::string>& words,
                   const std::string& help);
  /// A file that is only read.
  Option add_input(const std::string& names, std::string& path, const std::string& help);
  Option add_inputs(const std::string& names,
                    std::vector<std::string>& paths,
                    const std::string& help);
  /// A file that is written, whether or not it is read before.
  Option add_output(const std::string& names, std::string& path, const std::string& help);
  /// A folder in which the files have names of Sotto's choice.
  Option add_folder(const std::string& names, std::string& folder, const std::string& help);
  Option add_folders(const std::string& names,
                     std::vector<std::string>& folders,
                     const std::string& help);
  /// What help ends with.
  void footer(const std::string& text);
  /// What help says before that.
  void hint(const std::string& text);
  /// What is said of an argument too many beside that it is one.
  void if_too_many(const std::string& text) { if_too_many_ = text; }
  /// Called before its help is made.
  void before_help(BeforeHelp action) { before_help_ = std::move(action); }
  /// The values that completions offer for an option (`--method`) or argument (`NAME`).
  void offer(const std::string& name, std::vector<std::string> words) {
    words_[name] = std::move(words);
  }

  /// Files that follow from values of options.
  void reads(const std::string& what, Paths paths);
  void writes(const std::string& what, Paths paths);

  std::string name() const;
  /// With the verbs that it belongs to: "sotto data fetch".
  std::string path() const;
  std::string description() const;
  std::string footer() const;
  std::vector<Described> described() const;
  Expected<std::string> help() const;
  /// The verb that these words lead to, e.g. {"data", "fetch"}; kUsage names the nearest one.
  Expected<const Verb*> find(const std::vector<std::string>& words) const;

  /// Sets the variables of all options. None: a verb was given, and is to be run.
  std::optional<Answer> parse(const std::vector<std::string>& words);
  /// kUsage if one of these options (`--record`) is no flag.
  Expected<void> check_flags(const std::vector<std::string>& options) const;
  /// Whether it was given.
  bool parsed() const;
  std::vector<Value> values() const;
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
  /// The types that options really have: each is compiled once, in verb.cpp.
  using Number = std::variant<int*,
                              std::int64_t*,
                              std::uint64_t*,
                              double*,
                              std::optional<std::int64_t>*,
                              std::optional<std::uint64_t>*,
                              std::optional<double>*>;
  struct Files {
    std::string what;
    Paths paths;
  };

  Verb(std::shared_ptr<CLI::App> parser, const Verb* parent)
      : parser_(std::move(parser)), parent_(parent) {}
  /// Without the program's name: "data fetch".
  std::string spoken() const;
  /// The deepest one that was given.
  const Verb& given() const;
  /// parse(), but what CLI11 throws while an answer is made comes out.
  std::optional<Answer> parse_or_throw(const std::vector<std::string>& words);
  Answer refuse(const Error& error) const;
  /// kUsage if an option took the next one for its value, or has an empty one.
  Expected<void> check_values(const std::vector<std::string>& words) const;
  /// What is missing of what the verb requires, and how it is typed; nothing if all is there.
  std::optional<std::string> needs() const;
  Error mistake(const std::vector<std::string>& words, const std::string& told) const;
  Option add_number(const std::string& names, Number variable, const std::string& help);
  void collect(std::vector<NamedPath>& read, std::vector<NamedPath>& written) const;

  std::shared_ptr<CLI::App> parser_;
  const Verb* parent_ = nullptr;
  std::vector<std::unique_ptr<Verb>> subcommands_;
  std::vector<Files> read_, written_;
  BeforeHelp before_help_;
  std::string if_too_many_;
  std::map<std::string, std::vector<std::string>> words_;
};

}  // namespace sotto::app
