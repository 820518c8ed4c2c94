#pragma once

#include <string>

#include "sotto/data/dataset.hpp"

namespace sotto {

/// Reads a pair of NumPy files (plain or gzip): features, rows x dim or images, rows x channels x
/// height x width, in C order, and labels, one per row. Element types: float32, float64, bool and
/// integers of 1 to 8 bytes, little-endian. Values are taken as they stand. Layout kAuto is dense;
/// kSparse leaves zeros out. Classes must be declared unless the rows are public. Fails with kIo,
/// kBadData (not .npy, Fortran order, other element types or shapes, different numbers of rows, cut
/// short, refused rows: a value that is not finite, a label that does not fit, which counts as the
/// column after the features) or kUsage.
Expected<Dataset> read_npy(const std::string& features_path,
                           const std::string& labels_path,
                           const ReadOptions& options);

/// Writes the pair as float32 (features dense, labels as stored), each file atomically; a name that
/// ends in .gz is compressed. Fails with kIo, or kUsage if the table has units of several rows,
/// which the format can't say.
Expected<void> write_npy(const std::string& features_path,
                         const std::string& labels_path,
                         const Table& table);

}  // namespace sotto
