# The packages that the libraries and the program are made with (gscConfig.cmake.in asks for them again, for static linking).
find_package(PkgConfig REQUIRED)

# gsc_core
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(OpenMP REQUIRED COMPONENTS CXX)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET openblas)

# gsc_tasks
find_package(fmt REQUIRED)
if(GSC_PYTHON)  # which reads no files
  return()
endif()

# gsc_mpi
if(GSC_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
endif()

# gsc_io
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)
find_package(ZLIB REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C)
include(cmake/Hdf5.cmake)

# gsc_media
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(TIFF 4.5 REQUIRED)
pkg_check_modules(webp REQUIRED IMPORTED_TARGET libwebp libwebpmux)
pkg_check_modules(sndfile REQUIRED IMPORTED_TARGET sndfile)

# gsc_report, and the programs
find_package(nlohmann_json REQUIRED)
find_file(CHART_JS NAMES chart.min.js Chart.min.js PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist REQUIRED)
if(GSC_BUILD_PROGRAM)
  find_package(CLI11 REQUIRED)
endif()
