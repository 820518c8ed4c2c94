# `cmake --install` and find_package(sotto); consumed by tests/install.
include(CMakePackageConfigHelpers)

install(
  TARGETS ${SOTTO_MODULES} sotto
  EXPORT sotto_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET users DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILE_SET authors DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT sotto_targets NAMESPACE sotto:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)
configure_package_config_file(
  cmake/sotto-config.cmake.in ${CMAKE_BINARY_DIR}/sotto-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/sotto-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sotto-config.cmake ${CMAKE_BINARY_DIR}/sotto-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)

# `sotto reproduce` looks here, beside the program.
install(DIRECTORY studies/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sotto/studies FILES_MATCHING PATTERN "*.toml")
install(FILES examples/covertype.toml DESTINATION ${CMAKE_INSTALL_DATADIR}/sotto/studies/schemas)
