# The packages of ./dev package. `sotto` and `libsotto-dev` for Debian, by CPack, from any build of the program:
#   cpack --config BUILD/CPackConfig.cmake
# and the tarball, by cmake/tarball.cmake, from a build with SOTTO_STATIC. They hold the components of
# cmake/Install.cmake, and what cmake/package_doc.cmake writes.
set(package_share ${CMAKE_BINARY_DIR}/package-share)
set(headers_only libboost-dev libcli11-dev libeigen3-dev libexpected-dev libfmt-dev libjs-chart.js libtomlplusplus-dev
                 nlohmann-json3-dev)

# package_doc(COMPONENT PACKAGE [copyright of PACKAGE...])
#   Copyright, changelog and, for programs, man pages and completions: all that the formats of packages want otherwise
#   than `cmake --install` has it.
function(package_doc component package)
  string(CONCAT run
    "execute_process(COMMAND \"${CMAKE_COMMAND}\" -D \"SOURCE=${PROJECT_SOURCE_DIR}\" -D VERSION=${PROJECT_VERSION}"
    " -D COMPONENT=${component} -D PACKAGE=${package} -D \"SHARE=${package_share}/${component}\""
    " -D \"MADE=${SOTTO_SHARE}\" -D \"MAINTAINER=${SOTTO_MAINTAINER}\" -D \"PARTS=${ARGN}\""
    " -P \"${PROJECT_SOURCE_DIR}/cmake/package_doc.cmake\" COMMAND_ERROR_IS_FATAL ANY)")
  install(CODE "${run}" COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(DIRECTORY ${package_share}/${component}/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT ${component}
          EXCLUDE_FROM_ALL)
endfunction()

set(SOTTO_MAINTAINER "The Sotto authors <sotto@localhost>" CACHE STRING "NAME <ADDRESS> of whoever makes the packages")
package_doc(debian sotto ${headers_only})
if(SOTTO_STATIC)
  package_doc(tarball sotto ${headers_only} libonnx-dev libprotobuf-dev libsqlite3-dev libssl-dev libstdc++6 zlib1g-dev)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/tarball.cmake @ONLY CONTENT [[
set(PROGRAM "@CMAKE_BINARY_DIR@/bin/sotto")
set(BUILD "@CMAKE_BINARY_DIR@")
set(NAME "sotto-@PROJECT_VERSION@-linux-@CMAKE_SYSTEM_PROCESSOR@")
set(BESIDE "@SOTTO_BESIDE@")
include("@PROJECT_SOURCE_DIR@/cmake/tarball.cmake")
]])
  return()
endif()
package_doc(debian_dev libsotto-dev)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_NAME sotto)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "The Sotto authors")
set(CPACK_PACKAGE_CONTACT "${SOTTO_MAINTAINER}")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                                WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program debian library debian_dev)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_SOTTO_PACKAGE_NAME sotto)
set(CPACK_DEBIAN_SOTTO_PACKAGE_SECTION science)
set(CPACK_DEBIAN_SOTTO_PACKAGE_SHLIBDEPS ON)
# Programs that it starts (tests/package/deb_test.py compares): `data fetch`, and charts as pictures. tar is essential.
set(CPACK_DEBIAN_SOTTO_PACKAGE_RECOMMENDS "bzip2, ca-certificates, curl")
set(CPACK_DEBIAN_SOTTO_PACKAGE_SUGGESTS "gnuplot-nox | gnuplot")
# Below one line for both, the DESCRIPTION of the project.
set(CPACK_DEBIAN_SOTTO_DESCRIPTION [[Sotto trains linear models and neural networks so that what leaves a run
(the model, its record, everything printed) is differentially private for
each row, or for each person, of the training data.
.
This package holds the command: training, prediction, accounting, reports
for privacy officers, and audits that attack the guarantee.]])

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libsotto-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
# What cmake/sotto-config.cmake.in looks for.
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "libeigen3-dev, libexpected-dev, libfmt-dev, libonnx-dev, libpq-dev, libprotobuf-dev, libsqlite3-dev, libssl-dev, libtomlplusplus-dev, zlib1g-dev")
set(CPACK_DEBIAN_DEV_DESCRIPTION [[Sotto trains linear models and neural networks so that what leaves a run
(the model, its record, everything printed) is differentially private for
each row, or for each person, of the training data.
.
This package holds the C++20 library, its headers, and its CMake package:
find_package(sotto).]])

include(CPack)
cpack_add_component(program GROUP sotto)
cpack_add_component(debian GROUP sotto)
cpack_add_component(library GROUP dev)
cpack_add_component(debian_dev GROUP dev)
cpack_add_component_group(sotto)
cpack_add_component_group(dev)
