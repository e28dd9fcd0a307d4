# Installs the build into an empty prefix, moves that somewhere else, and builds strangers' projects against it: with the
# vector flags and sanitizers of their own, shared and static, by CMake and by pkg-config.
foreach(variable BUILD_DIR SOURCE_DIR WORK_DIR)
  if(NOT DEFINED ${variable})
    message(FATAL_ERROR "${variable} is not set")
  endif()
endforeach()
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN} gave ${code}:\n${output}")
  endif()
  message("${output}")
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/first)
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/moved)
set(prefix ${WORK_DIR}/moved)

# What is installed: no private header, and nothing that names a place on this machine.
file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/*)
foreach(header ${headers})
  if(NOT header MATCHES "^gsc/")
    message(FATAL_ERROR "a private header was installed: ${header}")
  endif()
endforeach()
file(GLOB_RECURSE texts ${prefix}/*.cmake ${prefix}/*.pc)
foreach(text ${texts})
  file(STRINGS ${text} lines REGEX "${WORK_DIR}|${BUILD_DIR}|${SOURCE_DIR}|[\"; ]/(usr|opt|home)/")
  if(lines)
    message(FATAL_ERROR "${text} has absolute paths:\n${lines}")
  endif()
endforeach()

# Strangers. Each: name, components, targets, flags.
function(consumer name components targets flags)
  string(REPLACE ";" "\\;" components "${components}")  # else a list makes two arguments of it
  run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/package/consumer -B ${WORK_DIR}/${name} -G Ninja -DCMAKE_BUILD_TYPE=None
      -DCMAKE_PREFIX_PATH=${prefix} "-DCOMPONENTS=${components}" "-DTARGETS=${targets}" "-DCMAKE_CXX_FLAGS=${flags}" ${ARGN})
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/${name})
  run(${WORK_DIR}/${name}/consumer)
endfunction()
consumer(native core gsc::core "-O3 -march=native")
consumer(sanitized core gsc::core "-O1 -g -march=native -fsanitize=address")
consumer(static "core;static" gsc::core_static "-O3 -march=native")
file(STRINGS /proc/cpuinfo flags REGEX "^flags.* avx2 .*" LIMIT_COUNT 1)
if(flags MATCHES " fma ")
  consumer(avx2 core gsc::core "-O3 -mavx2 -mfma")
endif()

# The core asks for Eigen and nothing else: with everything else hidden it is still found.
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/package/consumer -B ${WORK_DIR}/bare -G Ninja -DCMAKE_PREFIX_PATH=${prefix}
    -DCOMPONENTS=core -DTARGETS=gsc::core -DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_TIFF=ON -DCMAKE_DISABLE_FIND_PACKAGE_JPEG=ON -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON)
# Asking for what is not there says what is.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/package/consumer -B ${WORK_DIR}/wrong -G Ninja
    -DCMAKE_PREFIX_PATH=${prefix} -DCOMPONENTS=cora RESULT_VARIABLE code ERROR_VARIABLE said OUTPUT_QUIET)
if(code EQUAL 0 OR NOT said MATCHES "no component cora")
  message(FATAL_ERROR "an unknown component: exit code ${code}, said:\n${said}")
endif()

# The examples, against everything there is. (ctest runs them against the build tree.)
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/examples -B ${WORK_DIR}/examples -G Ninja -DCMAKE_BUILD_TYPE=None
    -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/examples)
run(${WORK_DIR}/examples/learn)

# pkg-config, which finds the prefix from where its file lies.
file(GLOB_RECURSE pc ${prefix}/gsc_core.pc)
get_filename_component(pc_dir ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
run(pkg-config --cflags --libs gsc_core)
separate_arguments(flags UNIX_COMMAND "${output}")
get_filename_component(libraries ${pc_dir} DIRECTORY)
run(c++ -std=c++20 -O1 ${SOURCE_DIR}/tests/package/consumer/consumer.cpp ${flags} -Wl,-rpath,${libraries} -o ${WORK_DIR}/by-pkg-config)
run(${WORK_DIR}/by-pkg-config)
run(pkg-config --print-errors --exists gsc_report)

# The shared libraries show the API and no more: nothing of Eigen or Highway, nothing of src/.
file(GLOB core ${libraries}/libgsc_core.so)
run(nm -DC --defined-only ${core})
foreach(hidden "Eigen::internal" "hwy::" "gsc::process_block" "gsc::PreparedModel")
  if(output MATCHES " [TW] [^\n]*${hidden}")
    message(FATAL_ERROR "libgsc_core.so shows ${hidden}: ${CMAKE_MATCH_0}")
  endif()
endforeach()

# The program, and its pages: all that is installed is made by the default target.
run(${prefix}/bin/gsc --version)
run(${prefix}/bin/gsc reproduce list)
foreach(page share/man/man1/gsc.1 share/man/man1/gsc-fit.1 share/bash-completion/completions/gsc)
  if(NOT EXISTS ${prefix}/${page})
    message(FATAL_ERROR "${page} is not installed")
  endif()
endforeach()

# BUILD_SHARED_LIBS: libraries of the other kind are not installed, and gsc::core is of this one. The core is not compiled
# again: its libraries are those of the build. Where gsc is inside a project, gsc::core is what that says.
function(one_kind value kind other type)
  set(build ${WORK_DIR}/only-${kind})
  set(part -DGSC_IO=OFF -DGSC_MEDIA=OFF -DGSC_REPORT=OFF -DBUILD_SHARED_LIBS=${value})
  run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${build} -G Ninja -DGSC_BUILD_PROGRAM=OFF ${part})
  file(GLOB built ${BUILD_DIR}/src/libgsc_core.* ${BUILD_DIR}/src/libgsc_tasks.*)
  file(COPY ${built} DESTINATION ${build}/src)
  set(prefix ${build}/installed)
  run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})
  file(GLOB_RECURSE installed RELATIVE ${prefix} ${prefix}/libgsc_*)
  if(NOT installed MATCHES "libgsc_core[.]${kind}" OR installed MATCHES "libgsc_core[.]${other}")
    message(FATAL_ERROR "with BUILD_SHARED_LIBS=${value} these are installed: ${installed}")
  endif()
  consumer(of-only-${kind} core gsc::core "-O1")
  run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/package/inside -B ${WORK_DIR}/inside-${kind} -G Ninja
      -DGSC=${SOURCE_DIR} -DEXPECTED=${type} ${part})
endfunction()
one_kind(ON so a SHARED_LIBRARY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/package/consumer -B ${WORK_DIR}/no-static -G Ninja
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/only-so/installed "-DCOMPONENTS=core;static" RESULT_VARIABLE code ERROR_VARIABLE said
    OUTPUT_QUIET)
if(code EQUAL 0 OR NOT said MATCHES "no component static")
  message(FATAL_ERROR "static libraries where there are none: exit code ${code}, said:\n${said}")
endif()
one_kind(OFF a so STATIC_LIBRARY)
