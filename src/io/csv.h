#pragma once
// Numbers as text: .csv (comma or semicolon) and .tsv (tab).

#include <gsc/data.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace gsc {

/// One row per line. A first line of words without any number is a header that names the columns. Skipped are blank
/// lines and those that start with '#'. Empty fields, NA, N/A and null are NaN. Quotes around numbers, CRLF and a UTF-8
/// byte order mark are fine.
std::unique_ptr<Data> open_csv(const std::filesystem::path& path, bool tabs);

/// The same for text in memory. `name` is what messages call it.
std::unique_ptr<Data> parse_csv(std::span<const std::byte> text, bool tabs, const std::string& name);

}  // namespace gsc
