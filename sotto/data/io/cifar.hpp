#pragma once

#include <string>
#include <vector>

#include "sotto/data/dataset.hpp"

namespace sotto {

/// Which of the two sets: CIFAR-10 records have one label byte, CIFAR-100 records a coarse and a
/// fine one, of which the fine one is taken.
enum class CifarKind { kTen, kHundred };

/// The files that read_cifar() reads for this path, in order.
Expected<std::vector<std::string>> cifar_files(const std::string& path, CifarKind kind);

/// Reads the official binary files: records of label bytes and 3 x 32 x 32 pixels, channel by
/// channel, scaled from the declared range [0, 255] to [0, 1]. `path` is a file, several files with
/// commas between them, or a folder, which means its training files (data_batch_*.bin or
/// train.bin). The declared bound on row norms is sqrt(3072 (+ 1 with bias)); several classes are
/// the set's 10 or 100 if none are declared; two must be declared. Layout kAuto is dense. Fails
/// with kIo, kBadData (a size that is no multiple of a record's, an undeclared label, compressed
/// files) or kUsage.
Expected<Dataset> read_cifar(const std::string& path, CifarKind kind, const ReadOptions& options);

}  // namespace sotto
