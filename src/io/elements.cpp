#include "io/elements.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace gsc {
namespace {

double half_to_double(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  if (exponent == 31) return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

struct Half {
  std::uint16_t bits;
  explicit operator double() const { return half_to_double(bits); }
};
struct Boolean {
  std::uint8_t value;
  explicit operator double() const { return value != 0 ? 1.0 : 0.0; }
};

template <class T, bool swapped>
void convert(const std::byte* source, Index count, double* out, Index out_stride) {
  for (Index i = 0; i < count; ++i) {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), source + i * static_cast<Index>(sizeof(T)), sizeof(T));
    if constexpr (swapped) std::reverse(bytes.begin(), bytes.end());
    out[i * out_stride] = static_cast<double>(std::bit_cast<T>(bytes));
  }
}

template <class T>
void convert(const std::byte* source, bool swapped, Index count, double* out, Index out_stride) {
  if (swapped)
    convert<T, true>(source, count, out, out_stride);
  else
    convert<T, false>(source, count, out, out_stride);
}

}  // namespace

void to_double(const std::byte* source, ElementType type, Index count, double* out, Index out_stride) {
  using Kind = ElementType::Kind;
  const bool swapped = type.swapped;
  switch (type.kind) {
    case Kind::boolean:
      return convert<Boolean>(source, false, count, out, out_stride);
    case Kind::signed_integer:
      if (type.size == 1) return convert<std::int8_t>(source, false, count, out, out_stride);
      if (type.size == 2) return convert<std::int16_t>(source, swapped, count, out, out_stride);
      if (type.size == 4) return convert<std::int32_t>(source, swapped, count, out, out_stride);
      return convert<std::int64_t>(source, swapped, count, out, out_stride);
    case Kind::unsigned_integer:
      if (type.size == 1) return convert<std::uint8_t>(source, false, count, out, out_stride);
      if (type.size == 2) return convert<std::uint16_t>(source, swapped, count, out, out_stride);
      if (type.size == 4) return convert<std::uint32_t>(source, swapped, count, out, out_stride);
      return convert<std::uint64_t>(source, swapped, count, out, out_stride);
    case Kind::floating:
      if (type.size == 2) return convert<Half>(source, swapped, count, out, out_stride);
      if (type.size == 4) return convert<float>(source, swapped, count, out, out_stride);
      return convert<double>(source, swapped, count, out, out_stride);
  }
}

std::optional<std::uint64_t> table_bytes(std::uint64_t rows, std::uint64_t cols, std::uint64_t size) {
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(rows, cols, &elements) || __builtin_mul_overflow(elements, size, &bytes)) return {};
  // With no elements the other dimension could still be absurd, so each is checked as well.
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
  if (bytes > kMost || rows > kMost || cols > kMost) return {};
  return bytes;
}

void ArrayData::read(Index first, Eigen::Ref<Matrix> block) const {
  assert(first >= 0 && first + block.rows() <= layout_.rows && block.cols() == layout_.cols);
  const Index size = layout_.type.size;
  if (layout_.column_major) {
    for (Index column = 0; column < layout_.cols; ++column)
      to_double(values_ + (column * layout_.rows + first) * size, layout_.type, block.rows(), block.data() + column,
                block.outerStride());
    return;
  }
  for (Index row = 0; row < block.rows(); ++row)
    to_double(values_ + (first + row) * layout_.cols * size, layout_.type, layout_.cols,
              block.data() + row * block.outerStride(), 1);
}

bool ArrayData::random_access() const {
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return static_cast<double>(layout_.rows) * static_cast<double>(layout_.cols) * layout_.type.size < memory / 2;
}

}  // namespace gsc
