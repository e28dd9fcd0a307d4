# Debian packages, made by `./run package`: gsc (the programs, man pages, completion) and libgsc-dev (headers, libraries).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gsc)
set(CPACK_PACKAGE_VENDOR "The gsc developers")
set(CPACK_PACKAGE_CONTACT "The gsc developers <gsc@localhost>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_SOURCE_DIR}/out/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# shlibdeps does not see what is opened only when a file needs it.
execute_process(COMMAND dpkg-query -S ${hdf5_file} OUTPUT_VARIABLE hdf5_package ERROR_QUIET)
string(REGEX MATCH "^[^:]*" hdf5_package "${hdf5_package}")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS ${hdf5_package})

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME gsc)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "spike-and-slab sparse coding: the program
 Learns sparse codes of data with their uncertainty, denoises pictures of
 unknown noise level, and separates mixed sources.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libgsc-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS libeigen3-dev)
if(hdf5_package)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", ${hdf5_package}")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS
  "libopenblas-dev, libhwy-dev, libzip-dev, libfmt-dev, libpng-dev, libjpeg-dev, libtiff-dev, libwebp-dev, libsndfile1-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "spike-and-slab sparse coding: C++ libraries and headers
 Shared and static libraries, for find_package(gsc) and pkg-config. What static
 linking needs is suggested.")
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gsc RENAME copyright COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libgsc-dev RENAME copyright COMPONENT development)
include(CPack)
