#include <fmt/format.h>

#include <memory>
#include <string>

#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/file.hpp"
#include "sotto/model/model.hpp"
#include "sotto/model/onnx/onnx.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

struct ExportArguments {
  std::string model_path;
  std::string output_path;
};

Expected<int> export_model(const ExportArguments& arguments) {
  if (!is_onnx_path(arguments.output_path))
    return fail(ErrorKind::kUsage,
                fmt::format("export writes ONNX files, whose names end in .onnx, but the output is "
                            "'{}'.",
                            arguments.output_path));
  SOTTO_TRY(check_writable(arguments.output_path));
  SOTTO_ASSIGN(const Model model, load_model(arguments.model_path));
  SOTTO_TRY(save_onnx(model, arguments.output_path));
  tell("{} written: {} weights, {}\n",
       arguments.output_path,
       model.w.size(),
       model.privacy.is_private ? fmt::format("epsilon {}{}, delta {} ({})",
                                              text_up(model.privacy.epsilon),
                                              seed_mark(model.privacy),
                                              text_up(model.privacy.delta),
                                              to_string(model.privacy.neighbours))
                                : std::string("not private"));
  return kSuccess;
}

}  // namespace

Action add_export(Verb& app) {
  auto* verb = app.add_subcommand("export", "write a model as ONNX, with its privacy statement");
  auto arguments = std::make_shared<ExportArguments>();
  verb->add_input("MODEL", arguments->model_path, "a model that `train` wrote").required();
  verb->add_output("OUTPUT", arguments->output_path, "the file to write, NAME.onnx").required();
  verb->footer(
      "\nThe file computes scores: a network's last layer before softmax, or <w, x> of a linear\n"
      "model. Its metadata has sotto.privacy, sotto.method, sotto.loss and sotto.class_names.\n"
      "Exporting releases nothing new: it is the same model.");
  return [arguments] { return export_model(*arguments); };
}

}  // namespace sotto::app
