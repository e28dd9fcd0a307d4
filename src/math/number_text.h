#pragma once
// Numbers in messages.

#include <gsc/export.h>

#include <string>

namespace gsc {

/// The shortest decimal that reads back as the same number: 1e-09, 0.1, 25. (std::to_string makes 0.000000 of 1e-9.)
GSC_EXPORT std::string number_text(double value);
/// Rounded to so many digits, where more would tell nothing.
GSC_EXPORT std::string number_text(double value, int digits);

}  // namespace gsc
