#pragma once
// Tables that come through a pipe.

#include <gsc/data.h>

#include <memory>
#include <optional>
#include <string>

namespace gsc {

/// Formats that can be told apart, read and written without a name.
enum class StreamFormat { csv, tsv, npy };
std::string_view to_string(StreamFormat format);

/// The table that `descriptor` gives until its end. Without a format: NumPy's mark means .npy, anything else is text,
/// with tabs if the first row has them and neither commas nor semicolons. What is large goes through an unnamed file in
/// the folder for temporary ones (TMPDIR). `name` is what messages call it. Throws Error.
std::unique_ptr<Data> read_stream(int descriptor, std::optional<StreamFormat> format, const std::string& name);

}  // namespace gsc
