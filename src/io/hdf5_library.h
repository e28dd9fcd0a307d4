#pragma once
// HDF5, opened when the first file needs it. Debian's library brings thirty others (curl for files on the web, and with
// it TLS, Kerberos and LDAP); linked in the ordinary way they would be loaded, and relocated, whenever the program
// starts.
//
// Inside gsc::hdf5 (or with its names, by using) a name of HDF5 means the object below, which looks the function up. A
// function that is used but not listed here does not link.

// The functions as HDF5 1.10 has them; later versions keep them under this name.
#ifndef H5_USE_110_API
#define H5_USE_110_API
#endif
#include <hdf5.h>

namespace gsc::hdf5 {

/// The address of a function or variable; throws Error if the library cannot be opened or is another one than ours.
void* library_symbol(const char* name);

/// Looked up anew for every call: nothing against what the calls themselves do.
template <class Pointer>
class LibraryFunction {
 public:
  constexpr explicit LibraryFunction(const char* name) : name_(name) {}
  /// Also as an argument, as the functions it stands for.
  operator Pointer() const { return reinterpret_cast<Pointer>(library_symbol(name_)); }
  template <class... Arguments>
  auto operator()(Arguments... arguments) const {
    return static_cast<Pointer>(*this)(arguments...);
  }

 private:
  const char* name_;
};

/// The number of a type or class, which the library sets when it is opened.
class LibraryId {
 public:
  constexpr explicit LibraryId(const char* name) : name_(name) {}
  operator hid_t() const { return *static_cast<const hid_t*>(library_symbol(name_)); }

 private:
  const char* name_;
};

#define GSC_HDF5_FUNCTION(name) inline constexpr LibraryFunction<decltype(&::name)> name(#name)
#define GSC_HDF5_ID(name) inline constexpr LibraryId name(#name)

GSC_HDF5_FUNCTION(H5check_version);
GSC_HDF5_FUNCTION(H5open);
GSC_HDF5_FUNCTION(H5Aclose);
GSC_HDF5_FUNCTION(H5Acreate2);
GSC_HDF5_FUNCTION(H5Aexists);
GSC_HDF5_FUNCTION(H5Aget_space);
GSC_HDF5_FUNCTION(H5Aget_type);
GSC_HDF5_FUNCTION(H5Aopen);
GSC_HDF5_FUNCTION(H5Aread);
GSC_HDF5_FUNCTION(H5Awrite);
GSC_HDF5_FUNCTION(H5Dclose);
GSC_HDF5_FUNCTION(H5Dcreate2);
GSC_HDF5_FUNCTION(H5Dget_chunk_storage_size);
GSC_HDF5_FUNCTION(H5Dget_create_plist);
GSC_HDF5_FUNCTION(H5Dget_num_chunks);
GSC_HDF5_FUNCTION(H5Dget_space);
GSC_HDF5_FUNCTION(H5Dget_storage_size);
GSC_HDF5_FUNCTION(H5Dget_type);
GSC_HDF5_FUNCTION(H5Dopen2);
GSC_HDF5_FUNCTION(H5Dread);
GSC_HDF5_FUNCTION(H5Dread_chunk);
GSC_HDF5_FUNCTION(H5Dwrite);
GSC_HDF5_FUNCTION(H5Eget_auto2);
GSC_HDF5_FUNCTION(H5Eset_auto2);
GSC_HDF5_FUNCTION(H5FDregister);
GSC_HDF5_FUNCTION(H5Fclose);
GSC_HDF5_FUNCTION(H5Fcreate);
GSC_HDF5_FUNCTION(H5Fflush);
GSC_HDF5_FUNCTION(H5Fget_file_image);
GSC_HDF5_FUNCTION(H5Fget_vfd_handle);
GSC_HDF5_FUNCTION(H5Fopen);
GSC_HDF5_FUNCTION(H5Gclose);
GSC_HDF5_FUNCTION(H5Gcreate2);
GSC_HDF5_FUNCTION(H5Gopen2);
GSC_HDF5_FUNCTION(H5Iget_name);
GSC_HDF5_FUNCTION(H5Iget_type);
GSC_HDF5_FUNCTION(H5Literate);
GSC_HDF5_FUNCTION(H5Oclose);
GSC_HDF5_FUNCTION(H5Oget_info2);
GSC_HDF5_FUNCTION(H5Oopen);
GSC_HDF5_FUNCTION(H5Pclose);
GSC_HDF5_FUNCTION(H5Pcreate);
GSC_HDF5_FUNCTION(H5Pget_chunk);
GSC_HDF5_FUNCTION(H5Pget_external_count);
GSC_HDF5_FUNCTION(H5Pget_filter2);
GSC_HDF5_FUNCTION(H5Pget_layout);
GSC_HDF5_FUNCTION(H5Pget_nfilters);
GSC_HDF5_FUNCTION(H5Pset_create_intermediate_group);
GSC_HDF5_FUNCTION(H5Pset_driver);
GSC_HDF5_FUNCTION(H5Pset_fapl_core);
GSC_HDF5_FUNCTION(H5Pset_fapl_stdio);
GSC_HDF5_FUNCTION(H5Pset_file_locking);
GSC_HDF5_FUNCTION(H5Pset_libver_bounds);
GSC_HDF5_FUNCTION(H5Sclose);
GSC_HDF5_FUNCTION(H5Screate);
GSC_HDF5_FUNCTION(H5Screate_simple);
GSC_HDF5_FUNCTION(H5Sget_simple_extent_dims);
GSC_HDF5_FUNCTION(H5Sget_simple_extent_ndims);
GSC_HDF5_FUNCTION(H5Sget_simple_extent_npoints);
GSC_HDF5_FUNCTION(H5Sget_simple_extent_type);
GSC_HDF5_FUNCTION(H5Sselect_hyperslab);
GSC_HDF5_FUNCTION(H5Tclose);
GSC_HDF5_FUNCTION(H5Tcopy);
GSC_HDF5_FUNCTION(H5Tequal);
GSC_HDF5_FUNCTION(H5Tget_class);
GSC_HDF5_FUNCTION(H5Tget_size);
GSC_HDF5_FUNCTION(H5Tget_super);
GSC_HDF5_FUNCTION(H5Tis_variable_str);
GSC_HDF5_FUNCTION(H5Tset_cset);
GSC_HDF5_FUNCTION(H5Tset_size);
GSC_HDF5_ID(H5P_CLS_FILE_ACCESS_ID_g);
GSC_HDF5_ID(H5P_CLS_LINK_CREATE_ID_g);
GSC_HDF5_ID(H5T_C_S1_g);
GSC_HDF5_ID(H5T_IEEE_F32BE_g);
GSC_HDF5_ID(H5T_IEEE_F32LE_g);
GSC_HDF5_ID(H5T_IEEE_F64BE_g);
GSC_HDF5_ID(H5T_IEEE_F64LE_g);
GSC_HDF5_ID(H5T_NATIVE_DOUBLE_g);
GSC_HDF5_ID(H5T_NATIVE_INT32_g);
GSC_HDF5_ID(H5T_NATIVE_INT64_g);
GSC_HDF5_ID(H5T_NATIVE_UINT64_g);
GSC_HDF5_ID(H5T_STD_I16BE_g);
GSC_HDF5_ID(H5T_STD_I16LE_g);
GSC_HDF5_ID(H5T_STD_I32BE_g);
GSC_HDF5_ID(H5T_STD_I32LE_g);
GSC_HDF5_ID(H5T_STD_I64BE_g);
GSC_HDF5_ID(H5T_STD_I64LE_g);
GSC_HDF5_ID(H5T_STD_I8BE_g);
GSC_HDF5_ID(H5T_STD_I8LE_g);
GSC_HDF5_ID(H5T_STD_U16BE_g);
GSC_HDF5_ID(H5T_STD_U16LE_g);
GSC_HDF5_ID(H5T_STD_U32BE_g);
GSC_HDF5_ID(H5T_STD_U32LE_g);
GSC_HDF5_ID(H5T_STD_U64BE_g);
GSC_HDF5_ID(H5T_STD_U64LE_g);
GSC_HDF5_ID(H5T_STD_U8BE_g);
GSC_HDF5_ID(H5T_STD_U8LE_g);

#undef GSC_HDF5_FUNCTION
#undef GSC_HDF5_ID

}  // namespace gsc::hdf5
