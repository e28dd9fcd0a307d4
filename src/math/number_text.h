#pragma once
// Numbers in messages.

#include <string>

namespace gsc {
#pragma GCC visibility push(default)  // for the libraries that build on this one

/// The shortest decimal that reads back as the same number: 1e-09, 0.1, 25. (std::to_string makes 0.000000 of 1e-9.)
std::string number_text(double value);
/// Rounded to so many digits, where more would tell nothing.
std::string number_text(double value, int digits);

#pragma GCC visibility pop
}  // namespace gsc
