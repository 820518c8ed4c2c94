#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data_options.hpp"
#include "sotto/model/model.hpp"
#include "sotto/task/family.hpp"
#include "verb.hpp"

namespace sotto::app {

/// kUsage if it is no model, but the rows' file is one: the two were exchanged.
Expected<Model> load_model_for(const std::string& model_path, const std::string& data_path);

/// Warns where as many rows were looked at as a private model was trained on.
void warn_of_training_rows(const Model& model, std::int64_t rows);

/// DATA MODEL: public rows with labels, read as those that the model was trained on.
struct RowsForModel {
  struct Opened {
    Model model;
    std::unique_ptr<Family> family;
    Dataset rows;
  };

  std::string data_path;
  std::string model_path;
  DataArguments data;

  void add_to(Verb& verb);
  Expected<Opened> open() const;
};

}  // namespace sotto::app
