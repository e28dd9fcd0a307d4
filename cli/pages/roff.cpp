#include "pages/roff.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace gsc::cli {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// `minus`: what a - becomes.
std::string escaped(std::string_view text, std::string_view minus) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '-':
        result += minus;
        break;
      case '\\':
        result += "\\e";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '`':
        result += "\\(ga";
        break;
      case '"':
        result += "\\(dq";
        break;
      case '~':
        result += "\\(ti";
        break;
      case '^':
        result += "\\(ha";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string in_font(char font, const std::string& text) { return fmt::format("\\f{}{}\\fR", font, text); }

/// A line must not begin with the dot or quote of a macro.
std::string guarded(const std::string& line) {
  return !line.empty() && (line.front() == '.' || line.front() == '\'') ? fmt::format("\\&{}", line) : line;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

std::string roff_literal(std::string_view text) { return escaped(text, "\\-"); }

std::string roff_value(std::string_view value) {
  std::string result;
  for (const std::string& part : split(value, '|')) {
    if (!result.empty()) result += "|";
    result += in_font(is_word(part) ? 'B' : 'I', roff_literal(part));
  }
  return result;
}

std::string roff_usage(std::string_view usage) {
  std::string result;
  for (const std::string& word : split(usage, ' ')) {
    if (!result.empty()) result += " ";
    const bool optional = word.size() > 2 && word.front() == '[' && word.back() == ']';
    if (!optional)
      result += roff_value(word);
    else if (word[1] == '-')
      result += fmt::format("[{}]", roff_value(word.substr(1, word.size() - 2)));
    else
      result += fmt::format("[{}]", in_font('I', roff_literal(word.substr(1, word.size() - 2))));
  }
  return result;
}

std::string roff_text(std::string_view text) {
  constexpr std::size_t kWidth = 76;
  std::string result, line;
  const auto end_line = [&] {
    result += guarded(line) + "\n";
    line.clear();
  };
  for (const std::string& word : split(text, ' ')) {
    const std::size_t first = word.find_first_not_of("('");
    const bool is_option = first != std::string::npos && word[first] == '-';
    const bool is_page = word.find("(1)") != std::string::npos;
    // \% keeps a word in one piece.
    const std::string next = is_option || is_page ? fmt::format("\\%{}", roff_literal(word)) : escaped(word, "-");
    if (!line.empty() && line.size() + 1 + next.size() > kWidth) end_line();
    if (!line.empty()) line += " ";
    line += next;
    if (word.size() > 1 && word.back() == '.')
      end_line();  // a sentence ends its line: the space behind it is then right
  }
  if (!line.empty()) end_line();
  return result;
}

std::string roff_example(std::string_view lines) {
  std::string result = ".RS 4\n.EX\n";
  for (std::string line : split(lines.substr(0, lines.find_last_not_of('\n') + 1), '\n')) {
    line.erase(0, std::min<std::size_t>(2, line.find_first_not_of(' ')));
    result += guarded(roff_literal(line)) + "\n";
  }
  return result + ".EE\n.RE\n";
}

}  // namespace gsc::cli
