#include <fmt/format.h>

#include <map>

#include "pages/completion.h"
#include "pages/help.h"

namespace gsc::cli {
namespace {

constexpr const char* kBegin = R"bash(# Completion of gsc for bash, made by gsc make-pages from the table of options.
# What is asked about is in $current, the word before it in $previous.

# Lines of standard input are offered beside what is offered already.
_gsc_offer() {
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY
}

_gsc_words() {
  _gsc_offer < <(compgen -W "$*" -- "$current")
}

_gsc_folders() {
  compopt -o filenames 2>/dev/null
  _gsc_offer < <(compgen -d -- "$current")
}

# Files with one of the extensions, and folders on the way to them.
_gsc_files() {
  local extension
  compopt -o filenames 2>/dev/null
  _gsc_offer < <(
    compgen -d -- "$current"
    for extension; do
      compgen -f -X "!*.$extension" -- "$current"
      compgen -f -X "!*.${extension^^}" -- "$current"
    done
  )
}

# The program knows its experiments.
_gsc_experiments() {
  local program=${COMP_WORDS[0]/#\~/$HOME}
  _gsc_words all list "$("$program" reproduce list 2>/dev/null | cut -d ' ' -f 1)"
}

# Which argument of the command this is; the parameters are the options that are followed by a value. bash makes words of
# the = in --name=value and of the : in file.npz:name.
_gsc_place() {
  local i place=1
  for ((i = 2; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      = | :) i=$((i + 1)) ;;
      -*) [[ ${COMP_WORDS[i + 1]} != = && " $* " == *" ${COMP_WORDS[i]} "* ]] && i=$((i + 1)) ;;
      *) place=$((place + 1)) ;;
    esac
  done
  printf '%s' "$place"
}
)bash";

constexpr const char* kEnd = R"bash(
_gsc() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = && $COMP_CWORD -gt 2 ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)bash";

std::string joined(const std::vector<std::string>& words, const char* separator = " ") {
  return fmt::format("{}", fmt::join(words, separator));
}

/// The commands of the script that offer what may stand there.
std::string offer(const Choices& choices) {
  std::vector<std::string> calls;
  if (choices.experiments) calls.emplace_back("_gsc_experiments");
  if (choices.folders) calls.emplace_back("_gsc_folders");
  if (!choices.words.empty()) calls.push_back("_gsc_words " + joined(choices.words));
  if (!choices.extensions.empty()) calls.push_back("_gsc_files " + joined(choices.extensions));
  return joined(calls, "; ");
}

std::string function_of(const CommandText& text) {
  std::map<std::string, std::vector<std::string>> flags_by_offer;
  for (const Option* option : options_of(text.command)) {
    if (option->is_switch()) continue;
    std::vector<std::string>& flags = flags_by_offer[offer(choices(*option))];
    const std::vector<std::string> more = flags_of(*option);
    flags.insert(flags.end(), more.begin(), more.end());
  }
  std::string script = fmt::format("\n_gsc_{}() {{\n  case $previous in\n", text.name);
  for (const auto& [calls, flags] : flags_by_offer)
    if (!flags.empty())
      script += fmt::format("    {}) {}{}return ;;\n", joined(flags, " | "), calls, calls.empty() ? "" : "; ");
  script += fmt::format("  esac\n  if [[ $current == -* ]]; then\n    _gsc_words {}\n    return\n  fi\n",
                        joined(flags_of(text.command)));
  script += fmt::format("  case $(_gsc_place {}) in\n", joined(flags_of(text.command, true)));
  int place = 1;
  for (const Option* argument : arguments_of(text.command))
    script +=
        fmt::format("    {}) {} ;;\n", argument->several ? "*" : std::to_string(place++), offer(choices(*argument)));
  return script + "  esac\n}\n";
}

}  // namespace

std::string bash_completion() {
  std::string script = kBegin;
  std::vector<std::string> names;
  for (const CommandText& text : command_texts()) {
    script += function_of(text);
    names.push_back(text.name);
  }
  script += kEnd;
  script += fmt::format(
      "  if ((COMP_CWORD == 1)); then\n    _gsc_words {0} help -h --help --version\n    return\n  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n    {1}) \"_gsc_${{COMP_WORDS[1]}}\" ;;\n"
      "    help) ((COMP_CWORD == 2)) && _gsc_words {0} ;;\n  esac\n}}\n\ncomplete -F _gsc gsc\n",
      joined(names), joined(names, " | "));
  return script;
}

}  // namespace gsc::cli
