#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gsc::html {

std::string escape(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      case '\0':  // not allowed in HTML at all
        result += "\xEF\xBF\xBD";
        break;
      default:
        result += c;
    }
  return result;
}

std::string number(double value, int digits) {
  if (!std::isfinite(value)) return "–";
  if (std::abs(value) < 1e5 || std::abs(value) >= 1e15) return fmt::format("{:.{}g}", value, digits);
  const std::string figures = fmt::format("{:.0f}", std::abs(value));
  std::string text = value < 0 ? "-" : "";
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (i > 0 && (figures.size() - i) % 3 == 0) text += ',';
    text += figures[i];
  }
  return text;
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return "–";
  if (seconds < 0.01) return "< 0.01 s";
  if (seconds < 10) return fmt::format("{:.2f} s", seconds);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::min(std::round(seconds), 1e15));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace gsc::html
