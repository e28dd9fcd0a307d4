# `cmake --install` gives a package that other projects find with find_package(gsc COMPONENTS ...) or pkg-config, wherever
# the installed tree is moved: no absolute path stands in it. What it says of libraries and packages is what gsc_library()
# and gsc_package() were told.
include(CMakePackageConfigHelpers)
get_property(libraries GLOBAL PROPERTY GSC_LIBRARIES)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gsc)

# gsc_collect(RESULT PROPERTY items...): what the items have as this global property, one after the other.
function(gsc_collect result property)
  set(all)
  foreach(item IN LISTS ARGN)
    get_property(values GLOBAL PROPERTY "${property}_${item}")
    list(APPEND all ${values})
  endforeach()
  set(${result} ${all} PARENT_SCOPE)
endfunction()

# gscConfig.cmake's lines about a library: those it builds on, and how to find its packages.
function(gsc_config_lines result library)
  gsc_collect(builds_on GSC_BUILDS_ON ${library})
  gsc_collect(shows GSC_SHOWS ${library})
  gsc_collect(uses GSC_USES ${library})
  gsc_collect(find_shows GSC_FIND ${shows})
  gsc_collect(find_uses GSC_FIND ${uses})
  list(JOIN builds_on " " builds_on)
  list(JOIN find_shows "\n  " find_shows)
  list(JOIN find_uses "\n    " find_uses)
  set(${result} "set(_gsc_builds_on_${library} ${builds_on})
macro(_gsc_find_packages_of_${library})
  ${find_shows}
  if(_gsc_static)
    ${find_uses}
  endif()
endmacro()
" PARENT_SCOPE)
endfunction()

# Makes gsc_LIBRARY.pc of cmake/gsc.pc.in. Where there is no shared library, all must be linked that it uses.
function(gsc_pkg_config library)
  gsc_collect(needs GSC_NEEDS ${library})
  gsc_collect(shows GSC_SHOWS ${library})
  gsc_collect(uses GSC_USES ${library})
  gsc_collect(pc_requires GSC_PC ${shows})
  gsc_collect(pc_private GSC_LIBS ${uses})
  list(TRANSFORM needs PREPEND gsc_)
  list(APPEND pc_requires ${needs})
  list(JOIN pc_requires " " pc_requires)
  list(JOIN pc_private " " pc_private)
  set(pc_libs "")
  if(NOT shared IN_LIST GSC_KINDS)
    set(pc_libs "${pc_private}")
  endif()
  configure_file(cmake/gsc.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/gsc_${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/gsc_${library}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

# One export a library and kind, so that whoever asks for one needs the packages of no other.
set(suffix_static "")
set(suffix_shared _shared)
foreach(library IN LISTS libraries)
  foreach(kind IN LISTS GSC_KINDS)
    set(target gsc_${library}${suffix_${kind}})
    install(TARGETS ${target} EXPORT ${target}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
    install(EXPORT ${target} NAMESPACE gsc:: DESTINATION ${package_dir} COMPONENT development)
  endforeach()
  gsc_pkg_config(${library})
  gsc_config_lines(lines ${library})
  string(APPEND config_lines "${lines}")
endforeach()

install(DIRECTORY include/gsc ${PROJECT_BINARY_DIR}/include/gsc
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
configure_package_config_file(cmake/gscConfig.cmake.in gscConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(gscConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gscConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/gscConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT development)
