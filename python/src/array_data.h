#pragma once
// NumPy arrays and the library's tables: read where they lie, given back without a copy.

#include <gsc/data.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <atomic>
#include <memory>
#include <utility>

namespace gsc::python {

namespace nb = nanobind;

/// Any table of numbers in memory: rows and columns may be apart by any stride, also a negative one.
using AnyTable = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
/// Small arrays that are copied.
using PlainMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using PlainVector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A float32 or float64 array as data, block by block and without a copy of the whole. Every block asks whether the
/// work should stop, so that passes without a question of their own (the summary, the factored method) end soon, too.
class ArrayData final : public Data {
 public:
  /// Throws UsageError for other types of numbers.
  ArrayData(const AnyTable& array, const std::atomic<bool>& stop);
  Index rows() const override { return rows_; }
  Index cols() const override { return cols_; }
  void read(Index first, Eigen::Ref<Matrix> block) const override;
  std::string name() const override { return "X"; }

 private:
  const void* values_;
  bool single_;
  Index rows_, cols_, row_stride_, col_stride_;
  const std::atomic<bool>& stop_;
};

Matrix matrix_of(const PlainMatrix& array);
Vector vector_of(const PlainVector& array);

/// An array that owns what it shows.
template <class Value, class Owner>
nb::ndarray<nb::numpy, Value> array_of(std::unique_ptr<Owner> owner, Value* values,
                                       std::initializer_list<std::size_t> shape) {
  nb::capsule capsule(owner.get(), [](void* pointer) noexcept { delete static_cast<Owner*>(pointer); });
  owner.release();
  return nb::ndarray<nb::numpy, Value>(values, shape, capsule);
}

template <class Value>
nb::ndarray<nb::numpy, Value> array_of(Table<Value> table) {
  auto owner = std::make_unique<Table<Value>>(std::move(table));
  Value* values = owner->data();
  const auto rows = static_cast<std::size_t>(owner->rows()), cols = static_cast<std::size_t>(owner->cols());
  return array_of(std::move(owner), values, {rows, cols});
}

inline nb::ndarray<nb::numpy, double> array_of(Vector vector) {
  auto owner = std::make_unique<Vector>(std::move(vector));
  double* values = owner->data();
  const auto size = static_cast<std::size_t>(owner->size());
  return array_of(std::move(owner), values, {size});
}

}  // namespace gsc::python
