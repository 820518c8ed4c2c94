#include "sotto/data/io/cifar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <vector>

#include "sotto/data/io/matrix_reader.hpp"
#include "sotto/data/refusals.hpp"

namespace sotto {
namespace {

constexpr std::int64_t kPixels = 3 * 32 * 32;

}  // namespace

Expected<std::vector<std::string>> cifar_files(const std::string& path, CifarKind kind) {
  std::vector<std::string> files;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      const std::string name = entry.path().filename();
      if (kind == CifarKind::kTen ? name.starts_with("data_batch_") && name.ends_with(".bin")
                                  : name == "train.bin")
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    if (files.empty())
      return fail(ErrorKind::kIo,
                  fmt::format("{} holds no {}. Give the folder that the official archive unpacks "
                              "to, or the files.",
                              path,
                              kind == CifarKind::kTen ? "data_batch_*.bin" : "train.bin"));
    return files;
  }
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(',', begin), path.size());
    files.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return files;
}

Expected<Dataset> read_cifar(const std::string& path, CifarKind kind, const ReadOptions& options) {
  SOTTO_TRY(check_options(options));
  SOTTO_ASSIGN(const auto files, cifar_files(path, kind));
  const std::int64_t label_bytes = kind == CifarKind::kTen ? 1 : 2;
  const std::int64_t record = label_bytes + kPixels;
  const std::int64_t classes = kind == CifarKind::kTen ? 10 : 100;
  std::vector<std::string> convention;
  if (options.labels == LabelKind::kMulticlass)
    for (std::int64_t c = 0; c < classes; ++c) convention.push_back(std::to_string(c));
  SOTTO_ASSIGN(const LabelMap label_of, LabelMap::make(options, convention, path));
  SOTTO_TRY(check_dim(options, kPixels, path));
  const bool sparse = options.layout == Layout::kSparse;
  Dataset data;
  data.row_norm_bound = std::sqrt(static_cast<double>(kPixels + (options.bias ? 1 : 0)));
  if (options.row_norm > 0) data.row_norm_bound = std::min(data.row_norm_bound, options.row_norm);
  TableBuilder builder(kPixels, sparse, {data.row_norm_bound, options.bias});
  const auto decode =
      [&](std::int64_t row, const char* bytes, TableBuilder::Writer& writer, Refusals& refusals) {
        const auto byte = [&](std::int64_t j) { return static_cast<unsigned char>(bytes[j]); };
        const auto label = label_of(byte(label_bytes - 1));
        if (!label) {
          refusals.add(row + 1, label_bytes, label_of.misfit());
          return writer.end_null_row(label_of.null_label());
        }
        for (std::int64_t j = 0; j < kPixels; ++j)
          if (const auto pixel = byte(label_bytes + j); pixel != 0 || !sparse)
            writer.add(static_cast<std::int32_t>(j), static_cast<float>(pixel) / 255.0F);
        writer.end_row(*label);
      };
  Refusals refusals(path, options.shown_refusals);
  for (const std::string& name : files) {
    SOTTO_ASSIGN(InputFile file,
                 InputFile::open(name, options.misfits == Misfits::kNull, options.limits));
    const auto size = static_cast<std::int64_t>(file.file_size());
    if (file.compressed() || size % record != 0)
      return fail(ErrorKind::kBadData,
                  fmt::format("{}: not a CIFAR-{} binary file: its size must be a multiple of {} "
                              "bytes, uncompressed, but is {}.",
                              name,
                              classes,
                              record,
                              size));
    Refusals found(name, options.shown_refusals);
    SOTTO_TRY(read_matrix(file, size / record, record, kPixels, decode, builder, found));
    refusals.append(std::move(found));
  }
  SOTTO_TRY(refusals.settle(options.misfits, options.purpose));
  if (builder.labels().empty()) builder.add_null_unit(label_of.null_label());
  SOTTO_ASSIGN(data.class_names, label_of.finish(builder.labels(), data.notes));
  data.table = std::move(builder).finish();
  return data;
}

}  // namespace sotto
