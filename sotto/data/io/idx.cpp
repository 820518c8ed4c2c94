#include "sotto/data/io/idx.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "sotto/data/io/matrix_reader.hpp"
#include "sotto/data/refusals.hpp"

namespace sotto {
namespace {

constexpr std::int64_t kMaxPixels = std::int64_t{1} << 30;

/// The extents in the header: 0, 0, element type, number of dimensions, then 4 bytes each.
Expected<std::vector<std::int64_t>> read_extents(InputFile& file) {
  SOTTO_ASSIGN(const std::string magic, read_exactly(file, 4, "header"));
  if (magic[0] != 0 || magic[1] != 0)
    return bad_file(file, "this is not an IDX file: it does not begin with two zero bytes.");
  if (magic[2] != 8)
    return bad_file(file, "the element type is not supported: IDX data must be bytes.");
  const auto dimensions = static_cast<unsigned char>(magic[3]);
  if (dimensions < 1 || dimensions > 8)
    return bad_file(file, "the header is damaged: it announces no or too many dimensions.");
  SOTTO_ASSIGN(const std::string extents,
               read_exactly(file, std::size_t{4} * dimensions, "header"));
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < extents.size(); i += 4) {
    std::int64_t extent = 0;
    for (std::size_t k = i; k < i + 4; ++k)
      extent = extent << 8 | static_cast<unsigned char>(extents[k]);
    shape.push_back(extent);
  }
  return shape;
}

}  // namespace

Expected<Dataset> read_idx(const std::string& images_path,
                           const std::string& labels_path,
                           const ReadOptions& options) {
  SOTTO_TRY(check_options(options));
  std::vector<std::string> convention;  // of MNIST and sets like it: ten classes
  if (options.labels == LabelKind::kMulticlass)
    for (int c = 0; c < 10; ++c) convention.push_back(std::to_string(c));
  SOTTO_ASSIGN(const LabelMap label_of, LabelMap::make(options, convention, labels_path));
  SOTTO_ASSIGN(InputFile images, InputFile::open(images_path, false, options.limits));
  SOTTO_ASSIGN(const auto shape, read_extents(images));
  SOTTO_ASSIGN(InputFile label_file, InputFile::open(labels_path, false, options.limits));
  SOTTO_ASSIGN(const auto label_shape, read_extents(label_file));
  if (label_shape.size() != 1) return bad_file(label_file, "labels must have one dimension.");
  const std::int64_t rows = shape[0];
  std::int64_t pixels = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) {
    if (shape[i] < 1 || pixels > kMaxPixels / shape[i])
      return bad_file(images, "the header is damaged: it announces empty or far too large images.");
    pixels *= shape[i];
  }
  const bool may_be_empty = options.misfits == Misfits::kNull;
  if (rows < 1 && !may_be_empty) return bad_file(images, "the file has no rows.");
  SOTTO_TRY(check_dim(options, pixels, images_path));
  if (label_shape[0] != rows)
    return bad_file(images,
                    fmt::format("the numbers of rows differ: {} here, {} labels in {}.",
                                rows,
                                label_shape[0],
                                labels_path));
  // Room grows with what is read: a damaged header must not claim memory.
  constexpr std::int64_t kBlock = 1 << 20;
  std::string labels;
  while (std::ssize(labels) < rows) {
    const auto count = static_cast<std::size_t>(std::min(kBlock, rows - std::ssize(labels)));
    SOTTO_ASSIGN(const std::string block, read_exactly(label_file, count, "labels"));
    labels += block;
  }
  SOTTO_TRY(expect_end(label_file));

  const bool sparse = options.layout == Layout::kSparse;
  Dataset data;
  data.row_norm_bound = std::sqrt(static_cast<double>(pixels + (options.bias ? 1 : 0)));
  if (options.row_norm > 0) data.row_norm_bound = std::min(data.row_norm_bound, options.row_norm);
  TableBuilder builder(pixels, sparse, {data.row_norm_bound, options.bias});
  const auto decode =
      [&](std::int64_t row, const char* bytes, TableBuilder::Writer& writer, Refusals& refusals) {
        const auto label =
            label_of(static_cast<unsigned char>(labels[static_cast<std::size_t>(row)]));
        if (!label) {
          refusals.add(row + 1, 1, label_of.misfit());
          return writer.end_null_row(label_of.null_label());
        }
        for (std::int64_t j = 0; j < pixels; ++j)
          if (const auto pixel = static_cast<unsigned char>(bytes[j]); pixel != 0 || !sparse)
            writer.add(static_cast<std::int32_t>(j), static_cast<float>(pixel) / 255.0F);
        writer.end_row(*label);
      };
  Refusals refusals(labels_path, options.shown_refusals);  // pixels always fit
  SOTTO_TRY(read_matrix(images, rows, pixels, pixels, decode, builder, refusals));
  SOTTO_TRY(refusals.settle(options.misfits, options.purpose));
  if (rows == 0) builder.add_null_unit(label_of.null_label());
  SOTTO_ASSIGN(data.class_names, label_of.finish(builder.labels(), data.notes));
  data.table = std::move(builder).finish();
  return data;
}

}  // namespace sotto
