#include "sotto/data/row_blocks.hpp"

#include <fmt/format.h>

#include <utility>

#include "sotto/data/io/csv_source.hpp"

namespace sotto {
namespace {

class CsvBlocks final : public RowBlocks {
 public:
  explicit CsvBlocks(std::unique_ptr<CsvSource> source)
      : source_(std::move(source)),
        refusals_(source_->lines().path(), source_->options().shown_refusals),
        line_(source_->format().first_line) {
    dim_ = std::ssize(source_->facts().feature_names);
    kept_ = source_->options().keep;
    notes_ = source_->facts().notes;
    source_->collect(extras_);
  }

  Expected<bool> next(RowBlock& block) override {
    for (;;) {
      SOTTO_ASSIGN(const bool more, source_->lines().advance());
      if (!more) break;
      extras_.assign(source_->lines().chunks().size(), {});
      TableBuilder builder = source_->builder();
      read_batch(source_->lines(), source_->format(), line_, refusals_, builder);
      if (!refusals_.empty() || builder.labels().empty()) continue;
      any_rows_ = true;
      fill(block, std::move(builder));
      return true;
    }
    SOTTO_TRY(refusals_.settle(Misfits::kRefuse, ReadFor::kScoring));
    if (!any_rows_) return no_rows(source_->lines().path());
    return false;
  }

 private:
  void fill(RowBlock& block, TableBuilder builder) const {
    block = RowBlock{std::move(builder).finish()};
    for (const CsvSource::Extras& each : extras_) {
      block.without_label += each.without_label;
      for (const std::size_t end : each.ends)
        block.kept_ends.push_back(block.kept_text.size() + end);
      block.kept_text += each.kept;
    }
  }

  std::unique_ptr<CsvSource> source_;
  std::vector<CsvSource::Extras> extras_;
  Refusals refusals_;
  std::int64_t line_;
  bool any_rows_ = false;
};

class OneBlock final : public RowBlocks {
 public:
  explicit OneBlock(Dataset rows) : table_(std::move(rows.table)) {
    dim_ = table_.dim();
    notes_ = std::move(rows.notes);
  }

  Expected<bool> next(RowBlock& block) override {
    if (std::exchange(done_, true)) return false;
    block = RowBlock{std::move(table_)};
    return true;
  }

 private:
  Table table_;
  bool done_ = false;
};

}  // namespace

Expected<std::unique_ptr<RowBlocks>> open_rows(LoadOptions options) {
  options.purpose = ReadFor::kScoring;
  options.persons = false;
  options.misfits = Misfits::kRefuse;
  const Format format = resolve_format(options);
  if (format->has_schema && options.has_schema()) {
    SOTTO_ASSIGN(Schema schema, read_schema(options));
    SOTTO_ASSIGN(auto source, CsvSource::open(options.path, std::move(schema), options));
    return std::make_unique<CsvBlocks>(std::move(source));
  }
  if (!options.keep.empty())
    return fail(ErrorKind::kUsage,
                fmt::format("‘keep’ copies columns of a CSV file, but the format is {}. Leave it "
                            "out: the output's column 'row' numbers the rows.",
                            format->name));
  SOTTO_ASSIGN(Dataset rows, load_table(options));
  return std::make_unique<OneBlock>(std::move(rows));
}

}  // namespace sotto
