#pragma once
// Tables as bytes, for files and for standard output: .npy, and text with a separator.

#include <gsc/streams.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gsc {

std::span<const std::byte> bytes_of(const NamedArray& array);
std::string npy_header_of(const NamedArray& array);
void write_npy(const Sink& sink, const NamedArray& array);

/// What columns are called where arrays stand side by side: name for a vector, name_0, name_1, ... for a matrix,
/// name_0_0, name_0_1, ... for more dimensions.
std::vector<std::string> column_names(const std::vector<NamedArray>& arrays);

/// One line for each row of the arrays, which stand side by side; before them the names, unless there are none. Numbers
/// are as short as they can be and still read back to the same bits. `name` is what messages call it. Throws Error if
/// the arrays have different numbers of rows.
void write_text(const Sink& sink, const std::string& name, const std::vector<NamedArray>& arrays, char separator,
                const std::vector<std::string>& names);

}  // namespace gsc
