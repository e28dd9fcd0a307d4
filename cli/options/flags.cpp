#include "options/flags.h"

#include <gsc/option_list.h>

#include <algorithm>
#include <cctype>

namespace gsc::cli {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; }

/// The text with is_name(word, before, after) asked of each word, and those that are names written as flags.
template <class IsName>
std::string replaced(const std::string& text, const IsName& is_name) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end == begin) {
      result += text[begin++];
      continue;
    }
    std::string word = text.substr(begin, end - begin);
    if (is_name(word, std::string_view(text).substr(0, begin), std::string_view(text).substr(end))) {
      std::replace(word.begin(), word.end(), '_', '-');
      result += "--";
    }
    result += word;
    begin = end;
  }
  return result;
}

bool is_learning_option(const std::string& word) {
  static const std::vector<OptionDescription> list = fit_option_list();
  return word.find('_') != std::string::npos &&
         std::any_of(list.begin(), list.end(), [&](const OptionDescription& option) { return option.name == word; });
}

/// Part of a path or of a quoted text.
bool stands_alone(std::string_view before, std::string_view after) {
  const char left = before.empty() ? ' ' : before.back(), right = after.empty() ? ' ' : after.front();
  const bool dotted = right == '.' && after.size() > 1 && in_word(after[1]);
  return (left == ' ' || left == '(') && !dotted && right != '/' && right != '\'' && right != '=';
}

}  // namespace

std::string with_flags(const std::string& text) {
  return replaced(text, [](const std::string& word, auto, auto) { return is_learning_option(word); });
}

std::string in_flags(const std::string& message, Command command) {
  const std::vector<const Option*> options = options_of(command);
  return replaced(message, [&](const std::string& word, std::string_view before, std::string_view after) {
    if (!stands_alone(before, after)) return false;
    const bool option = std::any_of(options.begin(), options.end(), [&](const Option* listed) {
      return !listed->positional && (listed->name == word || listed->key() == word);
    });
    if (!option || before.ends_with("the ")) return false;
    return word.find_first_of("_-") != std::string::npos || after.starts_with(" is ") ||
           (before.ends_with("set ") && after.starts_with(" to "));
  });
}

}  // namespace gsc::cli
