# Writes share/ of a package into SHARE: documents, and for COMPONENT=debian, man pages and completions as Debian has
# them, from those that `sotto help --share` has written to MADE. Dates are that of SOURCE_DATE_EPOCH.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${SHARE})
set(doc ${SHARE}/doc/${PACKAGE})

# Whose work is in the package: ours, and parts that are compiled in.
file(READ ${SOURCE}/LICENSE copyright)
if(NOT COMPONENT STREQUAL tarball)
  string(APPEND copyright "The license is in /usr/share/common-licenses/Apache-2.0.\n")
endif()
foreach(part ${PARTS})
  set(file /usr/share/doc/${part}/copyright)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "The package must say who wrote ${part}, which is compiled in, but there is no ${file}. "
                        "Install ${part} with its documents.")
  endif()
  file(READ ${file} text)
  string(REPEAT "=" 100 line)
  string(APPEND copyright "\n${line}\nA part of the program, from Debian's package ${part}:\n\n${text}")
endforeach()
file(WRITE ${doc}/copyright "${copyright}")

if(COMPONENT STREQUAL tarball)
  file(COPY ${SOURCE}/LICENSE ${SOURCE}/CHANGELOG.md ${SOURCE}/SECURITY.md DESTINATION ${doc})
  # Debian's texts name the full licenses by their place in Debian.
  string(REGEX MATCHALL "/usr/share/common-licenses/[A-Z][A-Za-z]*-[0-9.]*[0-9]" licenses "${copyright}")
  list(REMOVE_DUPLICATES licenses)
  foreach(license ${licenses})
    if(EXISTS ${license})
      file(READ ${license} text)
      get_filename_component(name ${license} NAME)
      file(WRITE ${doc}/common-licenses/${name} "${text}")
    endif()
  endforeach()
  return()
endif()

function(pack file)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog "sotto (${VERSION}) unstable; urgency=medium

  * What changed is in CHANGELOG.md of the sources, and of the package sotto.

 -- ${MAINTAINER}  ${date}
")
pack(${doc}/changelog)
if(NOT COMPONENT STREQUAL debian)
  return()
endif()

file(COPY ${SOURCE}/CHANGELOG.md ${SOURCE}/SECURITY.md DESTINATION ${doc})
pack(${doc}/CHANGELOG.md)
pack(${doc}/SECURITY.md)
if(NOT EXISTS ${MADE}) # built for another machine
  return()
endif()
file(COPY ${MADE}/man ${MADE}/bash-completion ${MADE}/fish DESTINATION ${SHARE})
file(GLOB pages ${SHARE}/man/man1/*.1)
foreach(page ${pages})
  pack(${page})
endforeach()
file(COPY ${MADE}/zsh/site-functions/ DESTINATION ${SHARE}/zsh/vendor-completions)
