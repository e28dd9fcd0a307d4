#include "io/write_table.h"

#include <array>
#include <cassert>
#include <charconv>
#include <numeric>

#include "io/file_error.h"
#include "io/npy.h"

namespace gsc {
namespace {

Index element_count(const NamedArray& array) {
  return std::accumulate(array.shape.begin(), array.shape.end(), Index{1}, std::multiplies<>());
}

Index row_count(const NamedArray& array) { return array.shape.empty() ? 1 : array.shape.front(); }

/// Numbers in a row: the product of all extents but the first.
Index width(const NamedArray& array) {
  return array.shape.empty()
             ? 1
             : std::accumulate(array.shape.begin() + 1, array.shape.end(), Index{1}, std::multiplies<>());
}

void append(std::string& text, const NamedArray& array, Index element) {
  std::array<char, 32> number;  // the longest shortest double takes 24
  char* const begin = number.data();
  char* const end = begin + number.size();
  const auto result = array.integer != nullptr ? std::to_chars(begin, end, array.integer[element])
                                               : std::to_chars(begin, end, array.real[element]);
  text.append(begin, result.ptr);
}

}  // namespace

std::span<const std::byte> bytes_of(const NamedArray& array) {
  const auto count = static_cast<std::size_t>(element_count(array));
  assert((array.real == nullptr) != (array.integer == nullptr) || count == 0);
  if (array.integer != nullptr) return std::as_bytes(std::span(array.integer, count));
  return std::as_bytes(std::span(array.real, array.real == nullptr ? 0 : count));
}

std::string npy_header_of(const NamedArray& array) {
  return npy_header(array.integer != nullptr ? "i4" : "f8", array.shape);
}

void write_npy(const Sink& sink, const NamedArray& array) {
  sink(npy_header_of(array));
  const std::span<const std::byte> bytes = bytes_of(array);
  sink({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::vector<std::string> column_names(const std::vector<NamedArray>& arrays) {
  std::vector<std::string> names;
  for (const NamedArray& array : arrays) {
    if (array.shape.size() < 2) {
      names.push_back(array.name);
      continue;
    }
    for (Index column = 0; column < width(array); ++column) {
      std::string numbers;  // the last index counts fastest
      Index rest = column;
      for (std::size_t d = array.shape.size() - 1; d > 0; --d) {
        numbers.insert(0, fmt::format("_{}", rest % array.shape[d]));
        rest /= array.shape[d];
      }
      names.push_back(array.name + numbers);
    }
  }
  return names;
}

void write_text(const Sink& sink, const std::string& name, const std::vector<NamedArray>& arrays, char separator,
                const std::vector<std::string>& names) {
  assert(!arrays.empty());
  if (names.empty() && arrays.front().shape.size() > 2)
    fail(name, "'{}' has {} dimensions; text holds at most 2, so write .npy, .npz or .h5", arrays.front().name,
         arrays.front().shape.size());
  const Index rows = row_count(arrays.front());
  for (const NamedArray& array : arrays)
    if (row_count(array) != rows)
      fail(name, "'{}' has {} rows, '{}' has {}; only arrays with as many can stand side by side, so write .npz or .h5",
           arrays.front().name, rows, array.name, row_count(array));

  constexpr std::size_t kFull = std::size_t{1} << 20;
  std::string text = fmt::format("{}", fmt::join(names, std::string_view(&separator, 1)));
  if (!names.empty()) text += '\n';
  Index columns = 0;
  for (const NamedArray& array : arrays) columns += width(array);
  for (Index row = 0; columns > 0 && row < rows; ++row) {
    for (const NamedArray& array : arrays)
      for (Index column = 0; column < width(array); ++column) {
        append(text, array, row * width(array) + column);
        text += separator;
      }
    text.back() = '\n';
    if (text.size() >= kFull) {
      sink(text);
      text.clear();
    }
  }
  sink(text);
}

void write_stream(const Sink& sink, StreamFormat format, const std::vector<NamedArray>& arrays,
                  const std::string& name) {
  if (format == StreamFormat::npy) return write_npy(sink, arrays.front());
  write_text(sink, name, arrays, format == StreamFormat::csv ? ',' : '\t',
             arrays.size() > 1 ? column_names(arrays) : std::vector<std::string>{});
}

}  // namespace gsc
