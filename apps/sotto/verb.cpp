#include "verb.hpp"

#include <cctype>
#include <memory>
#include <utility>

namespace sotto::app {

Verb* Verb::add_subcommand(const std::string& name, const std::string& description) {
  const std::shared_ptr<Verb> child(new Verb(description, name, this));
  CLI::App::add_subcommand(child);
  children_.push_back(child.get());
  return child.get();
}

std::string Verb::called(const std::string& names) {
  std::string name = names.substr(0, names.find(','));
  if (name.starts_with("-")) return name;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return "the " + name;
}

CLI::Option* Verb::add_word(const std::string& names, std::string& word, const std::string& help) {
  return CLI::App::add_option(names, word, help);
}

CLI::Option* Verb::add_words(const std::string& names,
                             std::vector<std::string>& words,
                             const std::string& help) {
  return CLI::App::add_option(names, words, help);
}

CLI::Option* Verb::add_input(const std::string& names, std::string& path, const std::string& help) {
  reads(called(names), [&path] { return std::vector{path}; });
  return CLI::App::add_option(names, path, help);
}

CLI::Option* Verb::add_inputs(const std::string& names,
                              std::vector<std::string>& paths,
                              const std::string& help) {
  reads(called(names), [&paths] { return paths; });
  return CLI::App::add_option(names, paths, help);
}

CLI::Option* Verb::add_output(const std::string& names,
                              std::string& path,
                              const std::string& help) {
  writes(called(names), [&path] { return std::vector{path}; });
  return CLI::App::add_option(names, path, help);
}

CLI::Option* Verb::add_folder(const std::string& names,
                              std::string& folder,
                              const std::string& help) {
  return CLI::App::add_option(names, folder, help);
}

CLI::Option* Verb::add_folders(const std::string& names,
                               std::vector<std::string>& folders,
                               const std::string& help) {
  return CLI::App::add_option(names, folders, help);
}

void Verb::reads(const std::string& what, Paths paths) {
  read_.push_back({what, std::move(paths)});
}

void Verb::writes(const std::string& what, Paths paths) {
  written_.push_back({what, std::move(paths)});
}

void Verb::collect(std::vector<NamedPath>& read, std::vector<NamedPath>& written) const {
  for (const auto& [what, paths] : read_)
    for (const std::string& path : paths()) read.push_back({what, path});
  for (const auto& [what, paths] : written_)
    for (const std::string& path : paths()) written.push_back({what, path});
  for (const Verb* child : children_)
    if (child->parsed()) child->collect(read, written);
}

Expected<void> Verb::check_paths() const {
  std::vector<NamedPath> read, written;
  collect(read, written);
  SOTTO_TRY(check_streams_elsewhere(read, written));
  return check_paths_differ(read, written);
}

}  // namespace sotto::app
