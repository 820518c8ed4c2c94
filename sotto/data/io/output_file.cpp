#include "sotto/data/io/output_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "sotto/data/io/csv_splitter.hpp"
#include "sotto/data/sql/table_output.hpp"

namespace sotto {
namespace {

constexpr std::size_t kPackedBytes = 1 << 18;
constexpr int kGzip = 15 + 16;  // largest window, gzip header and checksum
constexpr int kMemoryLevel = 8;

}  // namespace

struct OutputFile::State {
  explicit State(AtomicFile target) : file(std::move(target)) {}
  explicit State(TableOutput target) : table(std::move(target)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (packs) deflateEnd(&stream);
  }
  void put(std::string_view bytes) {
    if (result) result = table ? table->write(bytes) : file->write(bytes);
  }
  void pack(std::string_view bytes, int flush);

  std::optional<AtomicFile> file;  // one of the two
  std::optional<TableOutput> table;
  bool packs = false;
  z_stream stream{};
  std::vector<char> packed;
  Expected<void> result;  ///< of all writes so far
};

void OutputFile::State::pack(std::string_view bytes, int flush) {
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  do {
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, flush);
    put({packed.data(), packed.size() - stream.avail_out});
  } while (stream.avail_out == 0);
}

OutputFile::OutputFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Expected<OutputFile> OutputFile::standard_output() {
  SOTTO_ASSIGN(AtomicFile file, AtomicFile::standard_output());
  return OutputFile(std::make_unique<State>(std::move(file)));
}

const Expected<void>& OutputFile::status() const { return state_->result; }

Expected<OutputFile> OutputFile::create(const std::string& path, StreamTargets streams) {
  // Rows are for whoever may read those that they come from.
  SOTTO_ASSIGN(AtomicFile file, AtomicFile::create(path, FileAccess::kOwner, streams));
  auto state = std::make_unique<State>(std::move(file));
  if (path.ends_with(".gz")) {
    if (deflateInit2(&state->stream, 6, Z_DEFLATED, kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
        Z_OK)
      return fail(ErrorKind::kIo, path + ": zlib can't start; not enough memory.");
    state->packs = true;
    state->packed.resize(kPackedBytes);
  }
  return OutputFile(std::move(state));
}

Expected<OutputFile> OutputFile::table(const std::string& path, bool overwrite) {
  SOTTO_ASSIGN(TableOutput table, TableOutput::create(path, overwrite));
  return OutputFile(std::make_unique<State>(std::move(table)));
}

void OutputFile::begin(const std::vector<OutputColumn>& columns) {
  if (state_->table) {
    state_->result = state_->table->begin(columns);
    return;
  }
  std::string header;
  for (const OutputColumn& column : columns) {
    if (!header.empty()) header += ',';
    append_csv_field(header, column.name);
  }
  write(header + '\n');
}

void OutputFile::write(std::string_view bytes) {
  constexpr std::size_t kMost = 1U << 30;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kMost, bytes.size()))) {
    const std::string_view part = bytes.substr(0, kMost);
    if (state_->packs)
      state_->pack(part, Z_NO_FLUSH);
    else
      state_->put(part);
  }
}

Expected<void> OutputFile::commit() {
  if (state_->packs) state_->pack({}, Z_FINISH);
  SOTTO_TRY(state_->result);
  return state_->table ? state_->table->commit() : state_->file->commit();
}

Expected<void> refuse_units(const Table& table) {
  if (!table.null_units().empty())
    return fail(
        ErrorKind::kUsage,
        "the output format can't say that a record is empty (a null unit). Correct the rows "
        "that don't fit instead of reading them with ‘no_refusals’.");
  if (!table.has_units() || table.units() == table.rows()) return {};
  return fail(
      ErrorKind::kUsage,
      "the rows belong to persons (a unit column), and the output format can't say whose rows "
      "they are: a run on it would protect rows, not persons. Keep the CSV file and its "
      "schema.");
}

}  // namespace sotto
