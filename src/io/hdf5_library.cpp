#include "io/hdf5_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gsc/types.h>

namespace gsc::hdf5 {
namespace {

/// Why the last call of the dynamic linker failed.
std::string reason() {
  const char* const text = ::dlerror();
  return text != nullptr ? text : "no reason given";
}

/// Never closed: HDF5 has things to do at the end of the process.
void* library() {
  static void* const handle = [] {
    void* const opened = ::dlopen(GSC_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr)
      throw Error(fmt::format("models and .h5 files need the library {}, which cannot be opened: {}; install HDF5",
                              GSC_HDF5_LIBRARY, reason()));
    return opened;
  }();
  return handle;
}

/// A program that links the same HDF5 itself may hold HDF5's variables (a "copy relocation" moves them there). Then
/// those are the ones in use, and only a look-up in the whole process finds them.
void* in_use(const char* name) {
  static const bool linked_too = ::dlsym(RTLD_DEFAULT, "H5open") == ::dlsym(library(), "H5open");
  void* const found = linked_too ? ::dlsym(RTLD_DEFAULT, name) : nullptr;
  return found != nullptr ? found : ::dlsym(library(), name);
}

}  // namespace

void* library_symbol(const char* name) {
  void* const symbol = in_use(name);
  if (symbol == nullptr)
    throw Error(fmt::format("{} is not the HDF5 that gsc was built for: {}; install that of this system",
                            GSC_HDF5_LIBRARY, reason()));
  return symbol;
}

}  // namespace gsc::hdf5
