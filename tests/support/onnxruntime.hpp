#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/predictions.hpp"

namespace sotto::testing {

inline constexpr const char* kNoOnnxruntime =
    "onnxruntime is not installed (PyPI: onnxruntime, onnx, numpy; ./dev test tries to)";

/// A Python with onnxruntime and onnx: the one of the build folder, or the machine's. Empty: there
/// is none.
inline const std::string& onnxruntime_python() {
  static const std::string found = [] {
    const std::string own = SOTTO_BINARY "/../../onnxruntime/bin/python";
    for (const std::string& python :
         {in_quotes(std::filesystem::path(own).lexically_normal().string()),
          std::string("python3")})
      if (std::system((python + " -c 'import onnxruntime, onnx, numpy' >/dev/null 2>&1").c_str()) ==
          0)
        return python;
    return std::string();
  }();
  return found;
}

}  // namespace sotto::testing
