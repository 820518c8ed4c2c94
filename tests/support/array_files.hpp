#pragma once

// Files of arrays, as NumPy's and MNIST's descriptions of their formats say.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace sotto::testing {

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// What precedes the values in a .npy file of version 1.0: of type "<f4" and shape "(10, 3)".
inline std::string npy_header(const std::string& type,
                              const std::string& shape,
                              const std::string& fortran = "False") {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() & 255) +
         static_cast<char>(header.size() >> 8) + header;
}

inline std::string idx_file(const std::vector<std::uint32_t>& shape,
                            const std::string& bytes,
                            char type = 8) {
  std::string file = {0, 0, type, static_cast<char>(shape.size())};
  for (const std::uint32_t extent : shape)
    for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(extent >> shift);
  return file + bytes;
}

}  // namespace sotto::testing
