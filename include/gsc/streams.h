#pragma once
// Tables that come and go through a pipe. Target gsc::io.

#include <gsc/arrays.h>
#include <gsc/export.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gsc {

/// Formats that can be told apart, read and written without a name.
enum class StreamFormat { csv, tsv, npy };
GSC_EXPORT std::string_view to_string(StreamFormat format);

/// The table that `descriptor` gives until its end. Without a format: NumPy's mark means .npy, anything else is text,
/// with tabs if the first row has them and neither commas nor semicolons. What is large goes through an unnamed file in
/// the folder for temporary ones (TMPDIR). `name` is what messages call it. Throws Error.
GSC_EXPORT std::unique_ptr<Data> read_stream(int descriptor, std::optional<StreamFormat> format,
                                             const std::string& name);

/// Takes bytes in their order.
using Sink = std::function<void(std::string_view)>;
/// Writes as write_arrays() does to files: .npy takes one array, text several side by side. `name` is what messages call
/// it.
GSC_EXPORT void write_stream(const Sink& sink, StreamFormat format, const std::vector<NamedArray>& arrays,
                             const std::string& name);

}  // namespace gsc
