function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${SOTTO_BINARY_DIR} --prefix ${WORK_DIR}/prefix)

# The headers of cmake/Headers.cmake, and no others.
file(GLOB_RECURSE installed RELATIVE ${WORK_DIR}/prefix/include ${WORK_DIR}/prefix/include/*)
file(STRINGS ${SOTTO_SOURCE_DIR}/cmake/Headers.cmake lines REGEX "^ +sotto/.*\\.hpp")
set(listed)
foreach(line ${lines})
  string(REGEX MATCH "sotto/[a-z_/]+\\.hpp" header "${line}")
  list(APPEND listed ${header})
endforeach()
list(SORT installed)
list(SORT listed)
if(NOT installed STREQUAL listed)
  message(FATAL_ERROR "installed are ${installed}, but listed ${listed}")
endif()

# Made by the program from its own tables.
foreach(file man/man1/sotto.1 man/man1/sotto-train.1 man/man1/sotto-data-fetch.1 bash-completion/completions/sotto
             zsh/site-functions/_sotto fish/vendor_completions.d/sotto.fish)
  if(NOT EXISTS ${WORK_DIR}/prefix/share/${file})
    message(FATAL_ERROR "share/${file} is not installed")
  endif()
endforeach()

# What only the build of Sotto needs is out of the consumers' reach.
run(${CONSUMER_CMAKE} -S ${CONSUMER_DIR} -B ${WORK_DIR}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix
    -DEXAMPLES=${SOTTO_SOURCE_DIR}/examples -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON)
run(${CONSUMER_CMAKE} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/consumer)
run(${WORK_DIR}/build/own_method)
run(${WORK_DIR}/prefix/bin/sotto --version)
