#include "array_data.h"

#include <gsc/inference.h>

#include <algorithm>

namespace gsc::python {
namespace {

template <class Value>
void copy_block(const Value* corner, Index row_stride, Index col_stride, Eigen::Ref<Matrix> block) {
  if (std::abs(col_stride) <= std::abs(row_stride)) {
    for (Index row = 0; row < block.rows(); ++row) {
      const Value* values = corner + row * row_stride;
      double* target = &block(row, 0);
      if (col_stride == 1)  // known here, so that it is done in vectors
        for (Index col = 0; col < block.cols(); ++col) target[col] = static_cast<double>(values[col]);
      else
        for (Index col = 0; col < block.cols(); ++col) target[col] = static_cast<double>(values[col * col_stride]);
    }
  } else {  // column by column, as the memory lies
    for (Index col = 0; col < block.cols(); ++col) {
      const Value* values = corner + col * col_stride;
      for (Index row = 0; row < block.rows(); ++row) block(row, col) = static_cast<double>(values[row * row_stride]);
    }
  }
}

}  // namespace

ArrayData::ArrayData(const AnyTable& array, const std::atomic<bool>& stop)
    : values_(array.data()),
      single_(array.dtype() == nb::dtype<float>()),
      rows_(static_cast<Index>(array.shape(0))),
      cols_(static_cast<Index>(array.shape(1))),
      row_stride_(array.stride(0)),
      col_stride_(array.stride(1)),
      stop_(stop) {
  if (!single_ && array.dtype() != nb::dtype<double>())
    throw UsageError("X has numbers of another type than float32 and float64; convert it with X.astype(float)");
}

void ArrayData::read(Index first, Eigen::Ref<Matrix> block) const {
  if (stop_.load(std::memory_order_relaxed)) throw Interrupted("interrupted");
  if (block.rows() == 0 || block.cols() == 0) return;
  if (single_)
    copy_block(static_cast<const float*>(values_) + first * row_stride_, row_stride_, col_stride_, block);
  else
    copy_block(static_cast<const double*>(values_) + first * row_stride_, row_stride_, col_stride_, block);
}

Matrix matrix_of(const PlainMatrix& array) {
  return Eigen::Map<const Matrix>(array.data(), static_cast<Index>(array.shape(0)), static_cast<Index>(array.shape(1)));
}

Vector vector_of(const PlainVector& array) {
  return Eigen::Map<const Vector>(array.data(), static_cast<Index>(array.shape(0)));
}

}  // namespace gsc::python
