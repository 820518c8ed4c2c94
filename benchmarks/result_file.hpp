#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace sotto {

/// The finished cells of a long study, one JSON line each ({"key": …, "result": …}): a study that
/// is started again goes on where it stopped. The key names all that a result depends on. A line
/// that was cut off by a crash is ignored, and its cell is run again.
class ResultFile {
 public:
  explicit ResultFile(const std::filesystem::path& path) {
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
    std::ifstream before(path);
    for (std::string line; std::getline(before, line);) {
      const auto json = nlohmann::json::parse(line, nullptr, false);
      if (json.is_object() && json.contains("key")) results_[json["key"]] = json["result"];
    }
    file_.open(path, std::ios::app);
  }

  /// Null if the cell is not finished.
  const nlohmann::json* find(const std::string& key) const {
    const auto found = results_.find(key);
    return found == results_.end() ? nullptr : &found->second;
  }

  const nlohmann::json& add(const std::string& key, nlohmann::json result) {
    file_ << nlohmann::json{{"key", key}, {"result", result}}.dump() << std::endl;
    return results_[key] = std::move(result);
  }

 private:
  std::map<std::string, nlohmann::json> results_;
  std::ofstream file_;
};

/// Prints a figure as its JSON line; an infinite bound: reported only. True if the bound holds.
inline bool print_figure(const std::string& bench,
                         const std::string& name,
                         const std::string& ratio,
                         double value,
                         double bound,
                         bool at_least = false) {
  const bool holds = !std::isfinite(bound) || (at_least ? value >= bound : value <= bound);
  nlohmann::json json = {{"bench", bench}, {"case", name}, {"ratio", ratio}, {"value", value}};
  json["bound"] = std::isfinite(bound) ? nlohmann::json(bound) : nlohmann::json(nullptr);
  json["holds"] = holds;
  fmt::print("{}\n", json.dump());
  std::fflush(stdout);
  return holds;
}

}  // namespace sotto
