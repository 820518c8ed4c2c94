# `cmake --install`, find_package(sotto), and what is in which package. Components:
#   program  the program and what it reads
#   shell    man pages and completions, where they are in /usr/local or in a folder of one's own
#   library  archives, headers and the CMake package; consumed by tests/install
#   debian, debian_dev, tarball
#            what a package has otherwise (cmake/Package.cmake); never installed by itself
install(TARGETS sotto_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
# `sotto reproduce` looks here, beside the program.
install(DIRECTORY studies/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sotto/studies COMPONENT program
        FILES_MATCHING PATTERN "*.toml")
install(FILES examples/covertype.toml DESTINATION ${CMAKE_INSTALL_DATADIR}/sotto/studies/schemas COMPONENT program)

# The program makes its man pages and completions of its own tables. Only when it is installed: no build waits for them.
# A program for another machine does it by the emulator of the toolchain file (CMAKE_CROSSCOMPILING_EMULATOR). Without
# one, they are left out.
set(SOTTO_SHARE ${CMAKE_BINARY_DIR}/share)
get_target_property(emulator sotto_app CROSSCOMPILING_EMULATOR)
if(NOT emulator)
  set(emulator)
endif()
if(CMAKE_CROSSCOMPILING AND NOT emulator)
  message(STATUS "No man pages and completions will be installed: no emulator runs the program here")
else()
  set(make_share "file(REMOVE_RECURSE \"${SOTTO_SHARE}\")
execute_process(COMMAND ${emulator} \"$<TARGET_FILE:sotto_app>\" help --share \"${SOTTO_SHARE}\" COMMAND_ERROR_IS_FATAL ANY)")
  install(CODE "${make_share}" COMPONENT shell)
  install(CODE "${make_share}" COMPONENT debian EXCLUDE_FROM_ALL)
  install(DIRECTORY ${SOTTO_SHARE}/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT shell)
endif()

# A static program brings libraries along that no other program could be linked with.
if(SOTTO_STATIC)
  return()
endif()

include(CMakePackageConfigHelpers)
install(
  TARGETS ${SOTTO_MODULES} sotto
  EXPORT sotto_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  FILE_SET users DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
  FILE_SET authors DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(EXPORT sotto_targets NAMESPACE sotto:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto COMPONENT library)
configure_package_config_file(
  cmake/sotto-config.cmake.in ${CMAKE_BINARY_DIR}/sotto-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/sotto-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sotto-config.cmake ${CMAKE_BINARY_DIR}/sotto-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto COMPONENT library)
