# Headers that nearly every file parses, compiled once for all modules. clang-tidy's preset does without them, so that a
# missing #include is still found; kernels never see them (below).
set(SOTTO_PRECOMPILED <algorithm> <cmath> <functional> <map> <optional> <string> <vector> <Eigen/Core> <fmt/format.h>
                      <tl/expected.hpp>)

# __FILE__, which SOTTO_CHECK shows, as a path inside the sources: no package names the folder where it was built.
set(SOTTO_OWN_PATHS -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

# sotto_module(NAME [HOT] [DEPENDS module...] [LINK library...] [PRIVATE library...])
#   The library sotto_NAME from every .cpp below sotto/NAME. Files named *_kernels.cpp are left to
#   sotto_kernels. HOT: where a run spends its time; a release compiles it with -O3, the others with -O2.
function(sotto_module name)
  cmake_parse_arguments(ARG "HOT" "" "DEPENDS;LINK;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sotto/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_kernels\\.cpp$")
  add_library(sotto_${name} STATIC ${sources})
  add_library(sotto::${name} ALIAS sotto_${name})
  set_target_properties(sotto_${name} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_include_directories(
    sotto_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                         $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(sotto_${name} PROPERTIES UNITY_BUILD ${SOTTO_UNITY})
  target_compile_features(sotto_${name} PUBLIC cxx_std_20)
  target_compile_options(sotto_${name} PRIVATE ${SOTTO_OWN_PATHS})
  list(TRANSFORM ARG_DEPENDS PREPEND sotto_)
  target_link_libraries(sotto_${name} PUBLIC ${ARG_DEPENDS} ${ARG_LINK})
  target_link_libraries(sotto_${name} PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:sotto_flags>)
  if(name STREQUAL core) # the first
    target_precompile_headers(sotto_core PRIVATE ${SOTTO_PRECOMPILED})
  else()
    target_precompile_headers(sotto_${name} REUSE_FROM sotto_core)
  endif()
  if(ARG_HOT)
    target_compile_options(sotto_${name} PRIVATE $<$<CONFIG:Release>:-O3>)
  endif()
  set(SOTTO_MODULES ${SOTTO_MODULES} sotto_${name} PARENT_SCOPE)
endfunction()

# sotto_kernels(MODULE FILE)
#   Compiles sotto/MODULE/FILE.cpp (FILE may name a subfolder) once for the baseline processor and once for x86-64-v3 (AVX2, FMA),
#   with SOTTO_KERNEL_ARCH naming the namespace; the module picks one at run time. Such a file must
#   include nothing that defines inline functions of other headers: the linker could keep the AVX2
#   copy for everybody.
function(sotto_kernels module file)
  set(source ${PROJECT_SOURCE_DIR}/sotto/${module}/${file}.cpp)
  get_filename_component(name ${file} NAME)
  set(variants baseline)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND variants x86_64_v3)
    target_compile_definitions(sotto_${module} PRIVATE SOTTO_HAS_X86_64_V3)
  endif()
  foreach(variant ${variants})
    add_library(sotto_${name}_${variant} OBJECT ${source})
    target_include_directories(sotto_${name}_${variant} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(sotto_${name}_${variant} PRIVATE SOTTO_KERNEL_ARCH=${variant})
    target_link_libraries(sotto_${name}_${variant} PRIVATE sotto_flags)
    target_compile_options(sotto_${name}_${variant} PRIVATE -O3 ${SOTTO_OWN_PATHS})
    if(variant STREQUAL x86_64_v3)
      target_compile_options(sotto_${name}_${variant} PRIVATE -march=x86-64-v3)
    endif()
    target_sources(sotto_${module} PRIVATE $<TARGET_OBJECTS:sotto_${name}_${variant}>)
  endforeach()
endfunction()

# Flags and header-only libraries for our own code, never exported: no installed header includes them, and there is
# nothing to link.
add_library(sotto_flags INTERFACE)
target_link_libraries(sotto_flags INTERFACE Boost::headers nlohmann_json::nlohmann_json)
if(SOTTO_NATIVE)
  target_compile_options(sotto_flags INTERFACE -march=native)
endif()
if(SOTTO_WARNINGS)
  # Where several files are compiled at once, a local name may be that of another file's helper.
  target_compile_options(sotto_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion
                                               $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow> -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 sees overlaps and bounds that can't be where std::string is moved (GCC bugs 105651, 105329), more of them with
    # precompiled headers, where it forgets that the string is the system's. ASan looks for the true ones.
    target_compile_options(sotto_flags INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overread
                                                 -Wno-stringop-overflow)
  endif()
endif()
if(SOTTO_SANITIZE)
  add_compile_options(-fsanitize=${SOTTO_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SOTTO_SANITIZE})
endif()
