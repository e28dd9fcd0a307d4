#include <fmt/format.h>

#include "pages/completion.h"
#include "pages/help.h"

namespace gsc::cli {
namespace {

constexpr const char* kBegin = R"zsh(#compdef gsc
# Completion of gsc for zsh, made by gsc make-pages from the table of options.

# The last parameter is a list of extensions, "npy,csv"; what is before it comes from _arguments.
_gsc_files() {
  _files "${@[1,-2]}" -g "*.(#i)(${@[-1]//,/|})(-.)"
}

# Words, or files with these extensions.
_gsc_words_or_files() {
  compadd "${@[1,-3]}" -- ${(s:,:)@[-2]}
  _gsc_files "${@[1,-3]}" "${@[-1]}"
}

# The program knows its experiments.
_gsc_experiments() {
  compadd "$@" -- all list ${${(f)"$(${~gsc_program} reproduce list 2>/dev/null)"}%% *}
}

_gsc() {
  local curcontext="$curcontext" gsc_program=${(Q)words[1]} state line ret=1
  typeset -A opt_args
  _arguments -C '(- *)'{-h,--help}'[say what there is]' '(- *)--version[print the version]' '1: :->command' '*:: :->rest' && ret=0
)zsh";

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  }
  return result + "'";
}

/// With a backslash before every one of `special`.
std::string escaped(const std::string& text, const char* special) {
  std::string result;
  for (const char c : text) {
    if (std::string_view(special).find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// What _arguments shall do for a value: "name:action".
std::string action(const Option& option) {
  const Choices can_be = choices(option);
  const std::string words = fmt::format("{}", fmt::join(can_be.words, ","));
  const std::string extensions = fmt::format("{}", fmt::join(can_be.extensions, ","));
  std::string call;
  if (can_be.experiments)
    call = "_gsc_experiments";
  else if (can_be.folders)
    call = "_files -/";
  else if (!can_be.words.empty() && !can_be.extensions.empty())
    call = fmt::format("_gsc_words_or_files {} {}", words, extensions);
  else if (!can_be.words.empty())
    call = fmt::format("({})", fmt::join(can_be.words, " "));
  else if (!can_be.extensions.empty())
    call = fmt::format("_gsc_files {}", extensions);
  return fmt::format("{}:{}", escaped(option.value, ":\\"), call);
}

std::string function_of(const CommandText& text) {
  std::string specs;
  const auto add = [&](const std::string& spec) { specs += " \\\n        " + quoted(spec); };
  for (const Option* option : options_of(text.command)) {
    const std::string help = escaped(option->help, "[]\\");
    if (option->positional) continue;
    // With a short form, either excludes the other.
    const std::string other = option->letter.empty() ? "" : fmt::format("({})", fmt::join(flags_of(*option), " "));
    if (option->is_switch()) {
      for (const std::string& flag : flags_of(*option)) add(fmt::format("{}{}[{}]", other, flag, help));
      continue;
    }
    if (!option->letter.empty()) add(fmt::format("{}-{}+[{}]:{}", other, option->letter, help, action(*option)));
    add(fmt::format("{}--{}=[{}]:{}", other, option->name, help, action(*option)));
  }
  int place = 1;
  for (const Option* argument : arguments_of(text.command))
    add(fmt::format("{}:{}", argument->several ? "*" : std::to_string(place++), action(*argument)));
  return fmt::format("    {})\n      _arguments '(- *)'{{-h,--help}}'[list these options]'{} && ret=0\n      ;;\n",
                     text.name, specs);
}

}  // namespace

std::string zsh_completion() {
  std::string names, functions;
  for (const CommandText& text : command_texts()) {
    names += fmt::format("      {}\n", quoted(fmt::format("{}:{}", text.name, escaped(text.title, ":\\"))));
    functions += function_of(text);
  }
  return kBegin + fmt::format(
                      "  local -a commands=(\n{}      'help:what there is, or the options of a command'\n  )\n"
                      "  case $state in\n    command) _describe -t commands 'command' commands && return 0 ;;\n"
                      "    rest) ;;\n    *) return ret ;;\n  esac\n"
                      "  case $words[1] in\n{}    help) _describe -t commands 'command' commands && ret=0 ;;\n  esac\n "
                      " return ret\n}}\n\n"
                      "_gsc \"$@\"\n",
                      names, functions);
}

}  // namespace gsc::cli
