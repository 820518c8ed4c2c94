#pragma once

#include <string>
#include <vector>

#include "sotto/study/data_sets.hpp"
#include "sotto/study/run_watch.hpp"

namespace sotto::study {

/// Whether the data are images with classes, which only networks are trained on.
bool are_images(const DataSpec& spec);

/// Images and the network `model` at its start. Where the spec names a public set, the network's
/// convolutions are trained on it without privacy and kept as they are; the rows are then what they
/// make of the images. That public network is kept in the folder `keep` (empty: nowhere) and not
/// trained again. `rows` > 0: at most so many rows of the training set and of the public one.
Expected<DataSet> load_images(const DataSpec& spec,
                              const std::string& model,
                              const std::vector<std::string>& folders,
                              const std::string& keep,
                              std::int64_t rows,
                              const ShowProgress& progress);

}  // namespace sotto::study
