# `cmake --install` gives a package that other projects find with find_package(gsc COMPONENTS ...) or pkg-config, wherever
# the installed tree is moved: no absolute path stands in it.
include(CMakePackageConfigHelpers)
get_property(libraries GLOBAL PROPERTY GSC_LIBRARIES)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gsc)

# What pkg-config has to know of each library's packages: of the headers (requires), and what a static library is linked with
# (libs; not as Requires.private, whose packages pkg-config wants to find for shared ones, too).
set(pc_requires_core "eigen3")
set(pc_libs_core "-lhwy -lopenblas -lgomp")
set(pc_libs_io "-lzip -lz -lfmt -ldl")
set(pc_libs_tasks "-lfmt -lgomp")
set(pc_libs_media "-lpng -ljpeg -ltiff -lwebp -lwebpmux -lsndfile -lfmt")
set(pc_libs_report "-lfmt")
set(pc_libs_mpi "-lmpi")
set(pc_needs_mpi "gsc_core")
set(pc_needs_io "gsc_core")
set(pc_needs_tasks "gsc_core")
set(pc_needs_media "gsc_tasks gsc_io")
set(pc_needs_report "gsc_media")

# One export a library and kind, so that whoever asks for one needs the packages of no other.
foreach(library IN LISTS libraries)
  foreach(kind IN ITEMS "" _shared)
    install(TARGETS gsc_${library}${kind} EXPORT gsc_${library}${kind}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
    install(EXPORT gsc_${library}${kind} NAMESPACE gsc:: DESTINATION ${package_dir} COMPONENT development)
  endforeach()
  foreach(field IN ITEMS needs requires libs)
    set(pc_${field} ${pc_${field}_${library}})
  endforeach()
  configure_file(cmake/gsc.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/gsc_${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/gsc_${library}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

install(DIRECTORY include/gsc ${PROJECT_BINARY_DIR}/include/gsc
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
configure_package_config_file(cmake/gscConfig.cmake.in gscConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(gscConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gscConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/gscConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT development)
