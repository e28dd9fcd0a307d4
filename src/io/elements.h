#pragma once
// Numbers as files store them (width, kind, byte order) and a table of such numbers, converted block by block. Keeping
// them as stored means that a memory-mapped file is never copied and float data takes half the memory of doubles.

#include <gsc/data.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gsc {

/// How one number is stored.
struct ElementType {
  enum class Kind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating };
  Kind kind = Kind::floating;
  int size = 8;          ///< bytes: 1, 2, 4, 8; floating 2, 4, 8
  bool swapped = false;  ///< the other byte order than this machine's
};

/// out[i * out_stride] = element i of `source`, i < count. `source` needs no alignment. 64-bit integers are rounded.
void to_double(const std::byte* source, ElementType type, Index count, double* out, Index out_stride);

/// rows * cols * size, or nothing if that is beyond what an Index counts.
std::optional<std::uint64_t> table_bytes(std::uint64_t rows, std::uint64_t cols, std::uint64_t size);

/// Most bytes that zlib can make out of `compressed` ones: its best ratio is 1032, plus a little for tiny streams.
/// A file that promises more is broken, which is found here before the memory is asked for.
constexpr std::uint64_t most_inflated(std::uint64_t compressed) { return 1032 * compressed + 1024; }

/// A table of stored numbers in memory or in a mapped file.
class ArrayData final : public Data {
 public:
  struct Layout {
    Index rows = 0;
    Index cols = 0;
    ElementType type;
    bool column_major = false;
  };
  /// `values` points into memory that `owner` keeps alive: rows * cols elements, which the caller has made sure of.
  ArrayData(std::shared_ptr<const void> owner, const std::byte* values, Layout layout, std::string name,
            std::vector<std::string> column_names = {})
      : owner_(std::move(owner)),
        values_(values),
        layout_(layout),
        name_(std::move(name)),
        column_names_(std::move(column_names)) {}

  /// The same numbers with rows and columns exchanged. Nothing is copied.
  std::unique_ptr<Data> transposed() const {
    return std::make_unique<ArrayData>(owner_, values_,
                                       Layout{layout_.cols, layout_.rows, layout_.type, !layout_.column_major}, name_);
  }

  Index rows() const override { return layout_.rows; }
  Index cols() const override { return layout_.cols; }
  void read(Index first, Eigen::Ref<Matrix> block) const override;
  std::string name() const override { return name_; }
  std::vector<std::string> column_names() const override { return column_names_; }
  bool random_access() const override;  ///< if it fits into half of this machine's memory

 private:
  std::shared_ptr<const void> owner_;
  const std::byte* values_;
  Layout layout_;
  std::string name_;
  std::vector<std::string> column_names_;
};

}  // namespace gsc
