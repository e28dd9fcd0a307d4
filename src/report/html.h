#pragma once
// Text and numbers on their way into HTML.

#include <string>
#include <string_view>

namespace gsc::html {

/// `text` as it may stand between tags and in quoted attributes. Every text of a caller goes through here.
std::string escape(std::string_view text);

/// "0.0123457", "-1,234,568", "1e+20"; a dash for NaN and infinity.
std::string number(double value, int digits = 6);

/// "< 0.01 s", "0.42 s", "12.3 s", "3 min 05 s", "2 h 04 min".
std::string duration(double seconds);

}  // namespace gsc::html
