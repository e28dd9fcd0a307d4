#pragma once
// How HDF5 gets at the bytes of a file that it reads.

#include "io/hdf5_library.h"

namespace gsc::hdf5 {

/// Makes files that are opened with these access properties be read, and only read, through a memory map with every
/// address checked, and the bookkeeping of files without checksums, which HDF5 takes as it comes. HDF5's own driver
/// keeps the last metadata in a buffer whose arithmetic a damaged address overflows.
void use_checked_driver(hid_t access_properties);

}  // namespace gsc::hdf5
