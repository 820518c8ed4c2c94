#include "sotto/training/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "sotto/core/check.hpp"
#include "sotto/core/digest.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/json.hpp"
#include "sotto/core/option_names.hpp"

namespace sotto {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

constexpr std::string_view kMagic = "sotto checkpoint 2\n";
constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kLongestText = 1 << 24;

tl::unexpected<Error> not_one(const std::string& path, const std::string& what) {
  return fail(ErrorKind::kBadData,
              fmt::format("{} is not a checkpoint that can be continued: {}. Remove it and start "
                          "afresh, or name the right file.",
                          path,
                          what));
}

// What a part begins with: its kind, and the lengths of its name and data.
struct PartHead {
  char kind;
  std::uint32_t name;
  std::uint64_t count;
};
constexpr std::size_t kHeadBytes = 1 + 4 + 8;

std::size_t entry_bytes(char kind) { return kind == 't' ? 1 : 8; }

}  // namespace

std::string to_bytes(const Checkpoint& checkpoint) {
  nlohmann::json facts = nlohmann::json::array();
  for (const auto& [name, value] : checkpoint.facts) facts.push_back({with_flags(name), value});
  const nlohmann::json head = {{"run", checkpoint.run},
                               {"step", checkpoint.step},
                               {"steps", checkpoint.steps},
                               {"coin", checkpoint.coin},
                               {"spent", checkpoint.spent},
                               {"samples", checkpoint.samples},
                               {"journal_line", checkpoint.head.line},
                               {"journal_chain", checkpoint.head.chain},
                               {"facts", facts}};
  std::string content(kMagic);
  content += json_text(head) + "\n" + checkpoint.state;
  content += sha256_bytes(content);
  return content;
}

Expected<void> write_checkpoint(const Checkpoint& checkpoint, const std::string& path) {
  return write_file_atomically(path, to_bytes(checkpoint), FileAccess::kOwner);
}

Expected<Checkpoint> read_checkpoint(const std::string& path) {
  SOTTO_ASSIGN(const std::string content, read_text_file(path, kMostModelBytes, Source::kOwn));
  const std::string_view all(content);
  if (!all.starts_with(kMagic)) return not_one(path, "it does not begin like one of this version");
  if (all.size() < kMagic.size() + kDigestBytes) return not_one(path, "it is cut short");
  const std::string_view body = all.substr(0, all.size() - kDigestBytes);
  if (sha256_bytes(body) != all.substr(body.size()))
    return not_one(path, "it is damaged or cut short (its checksum is wrong)");
  const std::size_t end = body.find('\n', kMagic.size());
  if (end == std::string_view::npos) return not_one(path, "it has no header");
  SOTTO_ASSIGN(
      const nlohmann::json head,
      parse_json(body.substr(kMagic.size(), end - kMagic.size())).map_error([&](Error error) {
        return not_one(path, "its header can't be read: " + error.message).value();
      }));
  try {
    Checkpoint checkpoint;
    checkpoint.run = head.at("run").get<std::string>();
    checkpoint.step = head.at("step").get<std::int64_t>();
    checkpoint.steps = head.at("steps").get<std::int64_t>();
    checkpoint.coin = head.at("coin").get<double>();
    checkpoint.spent = head.at("spent").get<std::string>();
    checkpoint.samples = head.at("samples").get<std::int64_t>();
    checkpoint.head.line = head.at("journal_line").get<std::int64_t>();
    checkpoint.head.chain = head.at("journal_chain").get<std::string>();
    for (const auto& fact : head.at("facts"))
      checkpoint.facts.emplace_back(fact.at(0).get<std::string>(), fact.at(1).get<std::string>());
    checkpoint.state = std::string(body.substr(end + 1));
    if (!(checkpoint.coin >= 0 && checkpoint.coin < 1) || checkpoint.step < 1 ||
        checkpoint.step > checkpoint.steps)
      return not_one(path, "its header makes no sense");
    return checkpoint;
  } catch (const nlohmann::json::exception&) {
    return not_one(path, "its header is not readable");
  }
}

Expected<void> check_facts(const Facts& facts,
                           const Checkpoint& checkpoint,
                           const std::string& path) {
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorKind::kUsage,
                fmt::format("the checkpoint {} belongs to another run: {}. Nothing was released. "
                            "Give what the run was started with, or another ‘checkpoint’ file.",
                            path,
                            what));
  };
  const Facts& before = checkpoint.facts;
  for (const auto& [name, value] : facts) {
    const auto was =
        std::ranges::find(before, with_flags(name), &std::pair<std::string, std::string>::first);
    if (was == before.end()) return refuse(fmt::format("it was started without {}", name));
    if (was->second != value)
      return refuse(fmt::format("{} was {}, but is {}", name, was->second, value));
  }
  for (const auto& was : before)
    if (std::ranges::none_of(facts,
                             [&](const auto& fact) { return with_flags(fact.first) == was.first; }))
      return refuse(fmt::format("it was started with {} {}", was.first, was.second));
  return {};
}

void StateWriter::bytes(const void* data, std::size_t size) {
  bytes_.append(static_cast<const char*>(data), size);
}

void StateWriter::head(const std::string& name, char kind, std::size_t count) {
  const PartHead head{kind, static_cast<std::uint32_t>(name.size()), count};
  bytes(&head.kind, 1);
  bytes(&head.name, sizeof head.name);
  bytes(&head.count, sizeof head.count);
  bytes(name.data(), name.size());
}

void StateWriter::integer(const std::string& name,
                          std::int64_t& value,
                          std::int64_t,
                          std::int64_t) {
  head(name, 'i', 1);
  bytes(&value, sizeof value);
}

void StateWriter::number(const std::string& name, double& value, double, double) {
  head(name, 'n', 1);
  bytes(&value, sizeof value);
}

void StateWriter::vector(const std::string& name, Vector& value) {
  const auto count = static_cast<std::size_t>(value.size());
  head(name, 'v', count);
  bytes(value.data(), count * sizeof(double));
}

void StateWriter::numbers(const std::string& name, std::vector<double>& values, std::size_t) {
  head(name, 'v', values.size());
  bytes(values.data(), values.size() * sizeof(double));
}

void StateWriter::text(const std::string& name, std::string& value) {
  head(name, 't', value.size());
  bytes(value.data(), value.size());
}

void StateReader::refuse(const std::string& what) {
  if (failure_.empty()) failure_ = what;
}

Expected<void> StateReader::finish() const {
  if (!failure_.empty()) return fail(ErrorKind::kBadData, failure_);
  if (!bytes_.empty()) return fail(ErrorKind::kBadData, "it holds more than this method's state");
  return {};
}

std::string_view StateReader::part(const std::string& name, char kind, std::size_t most) {
  if (!failure_.empty()) return {};
  PartHead head{};
  if (bytes_.size() < kHeadBytes) {
    refuse(fmt::format("it ends before {}", name));
    return {};
  }
  head.kind = bytes_[0];
  std::memcpy(&head.name, bytes_.data() + 1, sizeof head.name);
  std::memcpy(&head.count, bytes_.data() + 5, sizeof head.count);
  const std::string_view rest = bytes_.substr(kHeadBytes);
  if (head.name > rest.size() || rest.substr(0, head.name) != name || head.kind != kind) {
    refuse(fmt::format("it has something else where {} should be", name));
    return {};
  }
  const std::size_t room = (rest.size() - head.name) / entry_bytes(kind);
  if (head.count > room || head.count > most) {
    refuse(fmt::format("{} is longer than it can be", name));
    return {};
  }
  const std::string_view data =
      rest.substr(head.name, static_cast<std::size_t>(head.count) * entry_bytes(kind));
  bytes_ = rest.substr(head.name + data.size());
  return data;
}

void StateReader::integer(const std::string& name,
                          std::int64_t& value,
                          std::int64_t lowest,
                          std::int64_t highest) {
  const std::string_view data = part(name, 'i', 1);
  if (!failure_.empty()) return;
  std::int64_t found = 0;
  if (data.size() == sizeof found) std::memcpy(&found, data.data(), sizeof found);
  if (data.size() != sizeof found || found < lowest || found > highest)
    return refuse(fmt::format("{} is out of its range", name));
  value = found;
}

void StateReader::number(const std::string& name, double& value, double lowest, double highest) {
  const std::string_view data = part(name, 'n', 1);
  if (!failure_.empty()) return;
  double found = std::numeric_limits<double>::quiet_NaN();
  if (data.size() == sizeof found) std::memcpy(&found, data.data(), sizeof found);
  if (!(found >= lowest && found <= highest))
    return refuse(fmt::format("{} is out of its range", name));
  value = found;
}

void StateReader::vector(const std::string& name, Vector& value) {
  const std::string_view data = part(name, 'v', static_cast<std::size_t>(dimension_));
  if (!failure_.empty()) return;
  if (data.size() != static_cast<std::size_t>(dimension_) * sizeof(double))
    return refuse(fmt::format("{} has not one number a parameter", name));
  value.resize(dimension_);
  std::memcpy(value.data(), data.data(), data.size());
}

void StateReader::numbers(const std::string& name, std::vector<double>& values, std::size_t most) {
  const std::string_view data = part(name, 'v', most);
  if (!failure_.empty()) return;
  values.resize(data.size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), data.data(), data.size());
}

void StateReader::text(const std::string& name, std::string& value) {
  const std::string_view data = part(name, 't', kLongestText);
  if (failure_.empty()) value = data;
}

}  // namespace sotto
