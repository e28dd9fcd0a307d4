// Products of small matrices of floats, for the algebra of groups. Included once per SIMD target, after Highway.

#if defined(GSC_TASKS_SMALL_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSC_TASKS_SMALL_PRODUCT_INL_H_
#undef GSC_TASKS_SMALL_PRODUCT_INL_H_
#else
#define GSC_TASKS_SMALL_PRODUCT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A matrix read by its entries: entry (i, j) is at[i * row + j * col].
struct Entries {
  const float* at;
  size_t row, col;
};

/// kVectors vectors of rows i .. i + kRows - 1 of C = A B, from column `first` on.
template <size_t kRows, size_t kVectors>
HWY_INLINE void ProductTile(const Entries& A, size_t i, size_t inner, const float* B, size_t width, size_t first,
                            float* C) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const size_t lanes = hn::Lanes(d);
  V sums[kRows][kVectors];
  for (auto& row : sums)
    for (V& sum : row) sum = hn::Zero(d);
  for (size_t j = 0; j < inner; ++j) {
    const float* b = B + j * width + first;
    V entry[kRows];
    for (size_t r = 0; r < kRows; ++r) entry[r] = hn::Set(d, A.at[(i + r) * A.row + j * A.col]);
    for (size_t v = 0; v < kVectors; ++v) {
      const V values = hn::Load(d, b + v * lanes);
      for (size_t r = 0; r < kRows; ++r) sums[r][v] = hn::MulAdd(entry[r], values, sums[r][v]);
    }
  }
  for (size_t r = 0; r < kRows; ++r)
    for (size_t v = 0; v < kVectors; ++v) hn::Store(sums[r][v], d, C + (i + r) * width + first + v * lanes);
}

template <size_t kVectors>
HWY_INLINE void ProductColumns(const Entries& A, size_t rows, size_t inner, const float* B, size_t width, size_t first,
                               float* C) {
  size_t i = 0;
  for (; i + 3 <= rows; i += 3) ProductTile<3, kVectors>(A, i, inner, B, width, first, C);
  for (; i < rows; ++i) ProductTile<1, kVectors>(A, i, inner, B, width, first, C);
}

/// C = A B: rows x inner times inner x width; B and C have rows of `width`, a multiple of 16.
inline void Product(const Entries& A, size_t rows, size_t inner, const float* B, size_t width, float* C) {
  const size_t lanes = hn::Lanes(hn::ScalableTag<float>());
  size_t first = 0;
  for (; first + 4 * lanes <= width; first += 4 * lanes) ProductColumns<4>(A, rows, inner, B, width, first, C);
  for (; first + 2 * lanes <= width; first += 2 * lanes) ProductColumns<2>(A, rows, inner, B, width, first, C);
  for (; first < width; first += lanes) ProductColumns<1>(A, rows, inner, B, width, first, C);
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#endif  // GSC_TASKS_SMALL_PRODUCT_INL_H_
