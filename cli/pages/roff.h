#pragma once
// Text -> the source of a man page, in the macros of man(7).

#include <string>
#include <string_view>

namespace gsc::cli {

/// Words as they are typed: every minus stays a minus, so that they can be copied from the page.
std::string roff_literal(std::string_view text);

/// What stands for a value: words as they are typed in bold, names of things (MODEL.h5) in italics.
std::string roff_value(std::string_view value);

/// A usage line, "DATA -o MODEL.h5 [options]", with options in bold.
std::string roff_usage(std::string_view usage);

/// A paragraph. A dash inside a word is a hyphen, one at its beginning a minus. Options and names of
/// pages are never divided. Short lines, as man pages have them;
/// ends the last one.
std::string roff_text(std::string_view text);

/// Lines that are shown as they are, less the blanks all of them begin with.
std::string roff_example(std::string_view lines);

}  // namespace gsc::cli
