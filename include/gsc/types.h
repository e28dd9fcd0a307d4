#pragma once
// The types every other header speaks: matrices, the random generator, errors.

#include <gsc/export.h>

#include <Eigen/Core>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>

namespace gsc {

using Index = Eigen::Index;

// Matrices cross the border between this library and programs that were compiled with other vector flags or
// sanitizers, under which Eigen allocates aligned memory in other ways. What has DontAlign comes from malloc() and goes
// to free() everywhere.

/// Row-major, as NumPy and HDF5 store arrays: row n of a data matrix is data point n.
template <class Value>
using Table = Eigen::Matrix<Value, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor | Eigen::DontAlign>;
using Matrix = Table<double>;
using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::DontAlign>;

/// The one source of randomness. It is seeded by the caller and passed in; nothing else draws numbers.
using Random = std::mt19937_64;

/// Something the user can mend: a broken file, impossible data, a full disk. what() says what happened,
/// where, with which value, and what to do about it.
class GSC_EXPORT Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An option or argument that makes no sense; found before any work is done.
class GSC_EXPORT UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace gsc
