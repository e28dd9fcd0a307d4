# HDF5 is opened when the first file needs it and not linked (src/io/hdf5_library.h says why). GSC_HDF5_LIBRARY is what
# it is opened by: its name where the dynamic linker finds it by that, else its path.
list(GET HDF5_C_LIBRARIES 0 hdf5_file)
get_filename_component(hdf5_file ${hdf5_file} REALPATH)
get_filename_component(hdf5_folder ${hdf5_file} DIRECTORY)
execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${hdf5_file} OUTPUT_VARIABLE hdf5_headers ERROR_QUIET)
if(NOT hdf5_headers MATCHES "SONAME +([^ \n]+)")
  message(FATAL_ERROR "${hdf5_file} is not a shared library; gsc needs one of HDF5")
endif()
set(GSC_HDF5_LIBRARY ${CMAKE_MATCH_1})
if(NOT hdf5_folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
  set(GSC_HDF5_LIBRARY ${hdf5_folder}/${GSC_HDF5_LIBRARY})
endif()
