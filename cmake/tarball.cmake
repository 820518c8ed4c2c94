# Makes dist/NAME.tar.gz of BUILD, a build with SOTTO_STATIC, whose program is PROGRAM. Two runs make the same bytes: see
# SOURCE_DATE_EPOCH. Call it by BUILD/tarball.cmake, which sets these, with -D DIST=FOLDER.
cmake_minimum_required(VERSION 3.25)
# glibc's own libraries are the system's. Others are refused, unless they were named.
set(glibc "^(libc|libm|libdl|libpthread|libresolv|librt|ld-linux[a-z0-9-]*)\\.so")
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${PROGRAM} RESOLVED_DEPENDENCIES_VAR found
     UNRESOLVED_DEPENDENCIES_VAR missing PRE_EXCLUDE_REGEXES ${glibc})
execute_process(COMMAND objdump --private-headers ${PROGRAM} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "NEEDED +[^\n]+" needed "${headers}")
foreach(library ${needed})
  string(REGEX REPLACE "NEEDED +" "" library "${library}")
  set(allowed ${BESIDE})
  list(TRANSFORM allowed REPLACE "(.+)" "^(\\1)\\\\.so")
  list(APPEND allowed ${glibc})
  list(JOIN allowed "|" allowed)
  if(NOT library MATCHES "${allowed}")
    message(FATAL_ERROR "The program needs ${library}, which another machine may not have. Link its archive "
                        "(cmake/Static.cmake), or let the tarball bring it along (SOTTO_BESIDE).")
  endif()
endforeach()
if(missing)
  message(FATAL_ERROR "These libraries are not found: ${missing}")
endif()

set(stage ${BUILD}/tarball)
set(root ${stage}/${NAME})
file(REMOVE_RECURSE ${stage})
foreach(component program shell tarball)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --component ${component} --strip --prefix ${root}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# Those that come along, each with its copyright. dpkg knows them by their place before /lib became a link, or after.
foreach(library ${found})
  file(INSTALL ${library} DESTINATION ${root}/lib/sotto FOLLOW_SYMLINK_CHAIN MESSAGE_NEVER)
  file(REAL_PATH ${library} target)
  string(REGEX REPLACE "^/usr" "" short ${target})
  execute_process(COMMAND dpkg --search ${target} ${short} OUTPUT_VARIABLE owner ERROR_QUIET)
  string(REGEX MATCH "^[a-z0-9.+-]+" owner "${owner}")
  set(copyright /usr/share/doc/${owner}/copyright)
  if(NOT owner OR NOT EXISTS ${copyright})
    message(FATAL_ERROR "The tarball brings ${library} along and must say who wrote it, but no package here says so.")
  endif()
  file(READ ${copyright} text)
  file(WRITE ${root}/share/doc/sotto/copyright.${owner} "${text}")
endforeach()

if(DEFINED ENV{SOURCE_DATE_EPOCH})
  set(time $ENV{SOURCE_DATE_EPOCH})
else()
  string(TIMESTAMP time "%s" UTC)
endif()
file(MAKE_DIRECTORY ${DIST})
execute_process(
  COMMAND tar --create --format=gnu --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime=@${time}
          --directory ${stage} ${NAME}
  COMMAND gzip -9n
  OUTPUT_FILE ${DIST}/${NAME}.tar.gz COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "${DIST}/${NAME}.tar.gz")
