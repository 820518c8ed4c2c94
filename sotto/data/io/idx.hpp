#pragma once

#include <string>

#include "sotto/data/dataset.hpp"

namespace sotto {

/// Reads a pair of IDX files (the MNIST format, plain or gzip) of unsigned bytes: images, one row
/// each, pixels scaled from the declared range [0, 255] to [0, 1]; and labels, one byte each.
/// The declared bound on row norms is sqrt(pixels (+ 1 with bias)); several classes are 0 to 9 if
/// none are declared, as in MNIST; two must be declared. Layout kAuto is dense.
/// Fails with kIo, kBadData (not IDX, other element types, different numbers of rows, cut short,
/// labels that don't fit) or kUsage.
Expected<Dataset> read_idx(const std::string& images_path,
                           const std::string& labels_path,
                           const ReadOptions& options);

}  // namespace sotto
