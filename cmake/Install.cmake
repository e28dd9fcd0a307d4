# `cmake --install` gives a package that another project finds with find_package(gsc): targets gsc::core, gsc::io, gsc::tasks.
include(CMakePackageConfigHelpers)
# gsc_warnings is a build-only interface, but static libraries export what they link.
install(TARGETS gsc_core gsc_io gsc_tasks gsc_warnings EXPORT gscTargets)
if(GSC_MPI)
  install(TARGETS gsc_mpi EXPORT gscTargets)
endif()
install(DIRECTORY include/gsc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT gscTargets NAMESPACE gsc:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gsc)
configure_package_config_file(cmake/gscConfig.cmake.in gscConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gsc)
write_basic_package_version_file(gscConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gscConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/gscConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gsc)
