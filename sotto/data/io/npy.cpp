#include "sotto/data/io/npy.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <vector>

#include "sotto/data/io/matrix_reader.hpp"
#include "sotto/data/io/numbers.hpp"
#include "sotto/data/io/output_file.hpp"
#include "sotto/data/refusals.hpp"

namespace sotto {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeader = 1 << 20;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

using Load = double (*)(const char*);

template <class T>
double load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return static_cast<double>(value);
}

struct ElementType {
  std::string_view name;
  std::int64_t bytes;
  Load load;
};

constexpr ElementType kTypes[] = {{"<f4", 4, load<float>},
                                  {"<f8", 8, load<double>},
                                  {"|u1", 1, load<std::uint8_t>},
                                  {"|i1", 1, load<std::int8_t>},
                                  {"|b1", 1, load<std::uint8_t>},
                                  {"<i2", 2, load<std::int16_t>},
                                  {"<u2", 2, load<std::uint16_t>},
                                  {"<i4", 4, load<std::int32_t>},
                                  {"<u4", 4, load<std::uint32_t>},
                                  {"<i8", 8, load<std::int64_t>},
                                  {"<u8", 8, load<std::uint64_t>}};

struct NpyHeader {
  const ElementType* type = nullptr;
  std::vector<std::int64_t> shape;
};

/// What stands after `'key':` in the header's dictionary.
std::string_view value_of(std::string_view dictionary, std::string_view key) {
  const std::size_t place = dictionary.find(fmt::format("'{}':", key));
  if (place == dictionary.npos) return {};
  std::string_view rest = dictionary.substr(place + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

/// The numbers in "(3, 4)"; empty if it is no such list.
std::vector<std::int64_t> parse_shape(std::string_view text) {
  std::vector<std::int64_t> shape;
  if (!text.starts_with('(')) return {};
  text = text.substr(1, std::min(text.find(')'), text.size()) - 1);
  while (!text.empty()) {
    if (text.front() == ' ' || text.front() == ',') {
      text.remove_prefix(1);
      continue;
    }
    std::int64_t size = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (status != std::errc() || size < 0) return {};
    shape.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return shape;
}

Expected<NpyHeader> read_npy_header(InputFile& file) {
  SOTTO_ASSIGN(const std::string start, read_exactly(file, 8, "header"));
  if (!start.starts_with(kMagic))
    return bad_file(file, "this is not a .npy file: it does not begin with the NumPy mark.");
  const auto version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3)
    return bad_file(file,
                    fmt::format(".npy version {} is not known; save the array again.", version));
  SOTTO_ASSIGN(const std::string size, read_exactly(file, version == 1 ? 2 : 4, "header"));
  std::size_t length = 0;
  for (std::size_t i = size.size(); i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(size[i]);
  if (length > kMaxHeader)
    return bad_file(file, "the header is damaged: it claims to be very long.");
  SOTTO_ASSIGN(const std::string dictionary, read_exactly(file, length, "header"));

  if (value_of(dictionary, "fortran_order").starts_with("True"))
    return bad_file(file,
                    "the array is in Fortran order. Save it in C order: "
                    "numpy.save(path, numpy.ascontiguousarray(x)).");
  NpyHeader header;
  const std::string_view descr = value_of(dictionary, "descr");
  for (const ElementType& type : kTypes)
    if (descr.starts_with(fmt::format("'{}'", type.name))) header.type = &type;
  if (header.type == nullptr)
    return bad_file(file,
                    "the element type is not supported. Use float32, float64, bool or integers, "
                    "little-endian: x.astype('float32').");
  header.shape = parse_shape(value_of(dictionary, "shape"));
  std::int64_t elements = 1;
  for (const std::int64_t extent : header.shape) {
    if (extent > 0 && elements > kMaxElements / extent)
      return bad_file(file, "the header announces an array that is too large.");
    elements *= extent;
  }
  return header;
}

Expected<std::vector<double>> read_labels(const std::string& path, const InputLimits& limits) {
  SOTTO_ASSIGN(InputFile file, InputFile::open(path, false, limits));
  SOTTO_ASSIGN(const NpyHeader header, read_npy_header(file));
  const bool column = header.shape.size() == 2 && header.shape[1] == 1;
  if (header.shape.size() != 1 && !column)
    return bad_file(file, "labels must be an array of one dimension, one number per row.");
  // Room grows with what is read: a damaged header must not claim memory.
  constexpr std::int64_t kBlock = 1 << 16;
  std::vector<double> labels;
  for (std::int64_t left = header.shape[0]; left > 0; left -= kBlock) {
    const std::int64_t count = std::min(left, kBlock);
    SOTTO_ASSIGN(
        const std::string bytes,
        read_exactly(file, static_cast<std::size_t>(count * header.type->bytes), "values"));
    for (std::int64_t i = 0; i < count; ++i)
      labels.push_back(header.type->load(bytes.data() + i * header.type->bytes));
  }
  SOTTO_TRY(expect_end(file));
  return labels;
}

Expected<void> write_array(const std::string& path,
                           const std::string& shape,
                           std::int64_t rows,
                           const std::function<std::span<const float>(std::int64_t)>& row) {
  std::string dictionary =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': {}, }}", shape);
  const std::size_t unpadded = kMagic.size() + 4 + dictionary.size() + 1;
  dictionary.append((64 - unpadded % 64) % 64, ' ');
  dictionary += '\n';
  std::string start(kMagic);
  start += '\1';
  start += '\0';
  start += static_cast<char>(dictionary.size() & 255);
  start += static_cast<char>(dictionary.size() >> 8);
  SOTTO_ASSIGN(OutputFile file, OutputFile::create(path));
  file.write(start + dictionary);
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::span<const float> values = row(i);
    file.write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  return file.commit();
}

}  // namespace

Expected<Dataset> read_npy(const std::string& features_path,
                           const std::string& labels_path,
                           const ReadOptions& options) {
  SOTTO_TRY(check_options(options));
  SOTTO_ASSIGN(const LabelMap label_of, LabelMap::make(options, {}, labels_path));
  SOTTO_ASSIGN(InputFile file, InputFile::open(features_path, false, options.limits));
  SOTTO_ASSIGN(const NpyHeader header, read_npy_header(file));
  std::int64_t dim = 1;
  for (std::size_t i = 1; i < header.shape.size(); ++i)
    dim = dim < 1 || header.shape[i] < 1 || header.shape[i] > (1 << 30) / dim
              ? 0
              : dim * header.shape[i];
  const std::int64_t least_rows = options.misfits == Misfits::kNull ? 0 : 1;
  if (header.shape.size() < 2 || header.shape.size() > 4 || header.shape[0] < least_rows || dim < 1)
    return bad_file(
        file,
        "features must be an array of two dimensions, rows x features, or images, rows x "
        "channels x height x width, not empty.");
  SOTTO_TRY(check_dim(options, dim, features_path));
  const std::int64_t rows = header.shape[0];
  SOTTO_ASSIGN(const std::vector<double> labels, read_labels(labels_path, options.limits));
  if (std::ssize(labels) != rows)
    return bad_file(file,
                    fmt::format("the numbers of rows differ: {} here, {} labels in {}.",
                                rows,
                                labels.size(),
                                labels_path));
  const bool sparse = options.layout == Layout::kSparse;
  const ElementType type = *header.type;
  TableBuilder builder(dim, sparse, {options.row_norm, options.bias});
  const auto decode =
      [&](std::int64_t row, const char* bytes, TableBuilder::Writer& writer, Refusals& refusals) {
        for (std::int64_t j = 0; j < dim; ++j) {
          const double value = type.load(bytes + j * type.bytes);
          if (!fits_float(value)) {
            refusals.add(
                row + 1, j + 1, "the value is not finite (NaN, infinity or too large for float32)");
            return writer.end_null_row(label_of.null_label());
          }
          if (value != 0 || !sparse)
            writer.add(static_cast<std::int32_t>(j), static_cast<float>(value));
        }
        if (const auto label = label_of(labels[static_cast<std::size_t>(row)])) {
          writer.end_row(*label);
        } else {
          refusals.add(row + 1, dim + 1, label_of.misfit());
          writer.end_null_row(label_of.null_label());
        }
      };
  Refusals refusals(features_path, options.shown_refusals);
  SOTTO_TRY(read_matrix(file, rows, dim * type.bytes, dim, decode, builder, refusals));
  SOTTO_TRY(refusals.settle(options.misfits, options.purpose));
  if (rows == 0) builder.add_null_unit(label_of.null_label());
  Dataset data;
  SOTTO_ASSIGN(data.class_names, label_of.finish(builder.labels(), data.notes));
  data.row_norm_bound = options.row_norm;
  data.table = std::move(builder).finish();
  return data;
}

Expected<void> write_npy(const std::string& features_path,
                         const std::string& labels_path,
                         const Table& table) {
  SOTTO_TRY(refuse_units(table));
  const std::int64_t dim = table.dim();
  std::vector<float> scratch(static_cast<std::size_t>(dim));
  const auto row = [&](std::int64_t i) -> std::span<const float> {
    if (!table.sparse()) return {table.row(i), scratch.size()};
    std::fill(scratch.begin(), scratch.end(), 0.0F);
    const auto at = [&](std::int64_t k) {
      return static_cast<std::size_t>(table.offsets()[static_cast<std::size_t>(k)]);
    };
    for (std::size_t k = at(i); k < at(i + 1); ++k)
      scratch[static_cast<std::size_t>(table.columns()[k])] = table.values()[k];
    return scratch;
  };
  SOTTO_TRY(
      write_array(features_path, fmt::format("({}, {})", table.rows(), dim), table.rows(), row));
  return write_array(labels_path, fmt::format("({},)", table.rows()), table.rows(), [&](auto i) {
    return table.labels().subspan(static_cast<std::size_t>(i), 1);
  });
}

}  // namespace sotto
