#include "man_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "exit_codes.hpp"
#include "sotto/core/version.hpp"

namespace sotto::app {
namespace {

/// As a part of a line. Letters beyond ASCII, which are ours and so well-formed UTF-8, by number:
/// troff reads bytes.
std::string troff(const std::string& text) {
  std::string result;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    if (byte == '\\' || byte == '-') {
      result += byte == '-' ? "\\-" : "\\e";
    } else if (byte < 0x80) {
      result += text[k];
    } else {
      const int more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
      unsigned letter = byte & (0x3fU >> more);
      for (int each = 0; each < more && k + 1 < text.size(); ++each)
        letter = letter << 6 | (static_cast<unsigned char>(text[++k]) & 0x3fU);
      result += fmt::format("\\[u{:04X}]", letter);
    }
  }
  return result;
}

/// As lines of their own, broken where the text breaks.
std::string as_written(const std::string& text) {
  std::string result = ".nf\n";
  std::istringstream lines(text);
  bool begun = false;
  for (std::string line; std::getline(lines, line);) {
    begun |= !line.empty();
    if (begun)
      result += (line.starts_with(".") || line.starts_with("'") ? "\\&" : "") + troff(line) + "\n";
  }
  return result + ".fi\n";
}

std::string paragraph(const Verb::Described& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += (names.empty() ? "" : "\\fR, ") + std::string("\\fB") + troff(name);
  const std::string type =
      option.is_argument() || option.type.empty() ? "" : " " + troff(option.type);
  std::string help = option.help;
  std::replace(help.begin(), help.end(), '\n', ' ');
  return fmt::format(".TP\n{}\\fR{}\n\\&{}\n", names, type, troff(help));
}

std::string section(const std::string& title,
                    const std::vector<Verb::Described>& options,
                    const std::string& before = "") {
  if (options.empty()) return "";
  std::string text = ".SH " + title + "\n" + before;
  std::string group = "Options";
  for (const auto& option : options) {
    if (option.group != group && !option.group.empty() && !option.is_argument())
      text += ".SS " + troff(option.group) + "\n";
    if (!option.is_argument()) group = option.group;
    text += paragraph(option);
  }
  return text;
}

}  // namespace

std::string man_name(const Verb& verb) {
  std::string name = verb.path();
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_page(const Verb& verb) {
  std::vector<Verb::Described> arguments, options, of_methods;
  std::vector<std::string> groups;
  for (Verb::Described& each : verb.described()) {
    auto& list = each.is_argument() ? arguments : each.group.empty() ? of_methods : options;
    if (std::find(groups.begin(), groups.end(), each.group) == groups.end())
      groups.push_back(each.group);
    list.push_back(std::move(each));
  }
  // A group's options may have been added in several places.
  const auto place = [&](const Verb::Described& option) {
    return option.group == "Options" ? groups.begin()
                                     : std::find(groups.begin(), groups.end(), option.group) + 1;
  };
  std::stable_sort(options.begin(), options.end(), [&](const auto& a, const auto& b) {
    return place(a) < place(b);
  });

  std::string synopsis = fmt::format(".B {}\n[OPTIONS]", troff(verb.path()));
  for (const auto& argument : arguments) synopsis += " " + argument.names.front();
  if (!verb.subcommands().empty()) synopsis += " VERB";
  std::string title = man_name(verb);
  std::transform(title.begin(), title.end(), title.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  std::string text =
      fmt::format(".TH {} 1 \"\" \"sotto {}\" \"Sotto\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}\n",
                  title,
                  kVersion,
                  troff(man_name(verb)),
                  troff(verb.description()),
                  synopsis);
  text += section("ARGUMENTS", arguments);
  if (!verb.subcommands().empty()) {
    text += ".SH VERBS\n";
    for (const auto& each : verb.subcommands())
      text +=
          fmt::format(".TP\n\\fB{}\\fR\n\\&{}\n", troff(each->name()), troff(each->description()));
  }
  text += section("OPTIONS", options);
  text += section("OPTIONS OF METHODS",
                  of_methods,
                  troff(fmt::format("Each method has some of them: `{} --method NAME --help`.\n",
                                    verb.path())));
  if (!verb.footer().empty()) text += ".SH NOTES\n" + as_written(verb.footer());
  text += ".SH EXIT STATUS\n" + troff(kExitCodes) + "\n";
  text += ".SH SEE ALSO\n";
  text += verb.path() == "sotto" ? "\\fBsotto help\\fR VERB\n" : "\\fBsotto\\fR(1)\n";
  return text;
}

}  // namespace sotto::app
