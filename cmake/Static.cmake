# The libraries that the program is linked with, by the names that the modules use. SOTTO_STATIC takes them into the
# program, so that it needs glibc alone at run time: the tarball of ./dev package. Debian has archives of some of them
# (OpenSSL, zlib, Protobuf). The others are compiled with the program: fmt and toml++ from their headers, and ONNX's
# messages from their schema, since Debian has ONNX as a shared library alone.
#
# A library of which Debian has no archive is linked as it is found. If SOTTO_BESIDE names it, the tarball brings it
# along in lib/sotto, with all that it needs in turn; if not, cmake/tarball.cmake stops.
set(SOTTO_BESIDE "" CACHE STRING "Shared libraries that the tarball may bring along: a list of names, as libpq")
set(SOTTO_FMT fmt::fmt)
set(SOTTO_TOML tomlplusplus::tomlplusplus)
set(SOTTO_ONNX onnx_proto)
if(NOT SOTTO_STATIC)
  return()
endif()

set(SOTTO_FMT fmt::fmt-header-only)

add_library(sotto_toml INTERFACE)
target_include_directories(
  sotto_toml SYSTEM INTERFACE $<TARGET_PROPERTY:tomlplusplus::tomlplusplus,INTERFACE_INCLUDE_DIRECTORIES>)
set(SOTTO_TOML sotto_toml)

# Debian has the schema without the extension for classical machine learning, of which Sotto reads and writes nothing.
find_program(SOTTO_PROTOC protoc REQUIRED)
find_path(SOTTO_ONNX_SCHEMA onnx/onnx.proto REQUIRED)
set(generated ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${generated})
add_custom_command(
  OUTPUT ${generated}/onnx/onnx.pb.cc ${generated}/onnx/onnx.pb.h
  COMMAND ${SOTTO_PROTOC} --proto_path=${SOTTO_ONNX_SCHEMA} --cpp_out=${generated} onnx/onnx.proto
  DEPENDS ${SOTTO_ONNX_SCHEMA}/onnx/onnx.proto
  VERBATIM)
add_library(sotto_onnx STATIC ${generated}/onnx/onnx.pb.cc)
target_include_directories(sotto_onnx SYSTEM PUBLIC ${generated} ${SOTTO_ONNX_SCHEMA})
target_link_libraries(sotto_onnx PUBLIC protobuf::libprotobuf)
set(SOTTO_ONNX sotto_onnx)

# RPATH, and not RUNPATH, which would not hold for what these libraries need in turn.
if(SOTTO_BESIDE)
  set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib/sotto")
  add_link_options(LINKER:--disable-new-dtags)
endif()

# Nothing of the archives is offered to shared libraries: one of them may bring its own copy of OpenSSL or zlib.
add_link_options(-static-libstdc++ -static-libgcc LINKER:--exclude-libs,ALL)
