#include <fmt/format.h>

#include "pages/completion.h"
#include "pages/help.h"

namespace gsc::cli {
namespace {

constexpr const char* kBegin = R"fish(# Completion of gsc for fish, made by gsc make-pages from the table of options.

function __gsc_no_command
    test (count (commandline -opc)) -eq 1
end

function __gsc_command
    set -l words (commandline -opc)
    test (count $words) -gt 1; and test $words[2] = $argv[1]
end

# Is this argument number $argv[2], or a later one if $argv[3] is there, of command $argv[1]?
function __gsc_argument
    __gsc_command $argv[1]; or return 1
    set -l words (commandline -opc)
    set -e words[1..2]
    set -l valued __gsc_valued_$argv[1]
    set -l place 1
    set -l is_value 0
    for word in $words
        if test $is_value = 1
            set is_value 0
        else if contains -- $word $$valued
            set is_value 1
        else if not string match -q -- '-*' $word
            set place (math $place + 1)
        end
    end
    test $is_value = 0; or return 1
    if set -q argv[3]
        test $place -ge $argv[2]
    else
        test $place -eq $argv[2]
    end
end

# Files with one of the extensions, and folders on the way to them.
function __gsc_files
    set -l extensions (string join '|' -- $argv)
    complete -C "__gsc_no_such_program "(commandline -ct) | string match -r -i -- "^[^\t]*(?:/|\.(?:$extensions))(?:\t.*)?\$"
end

# The program knows its experiments.
function __gsc_experiments
    set -l program (commandline -opc)[1]
    printf '%s\n' all list
    eval $program reproduce list 2>/dev/null | string replace -r '^(\S+)\s+' '$1\t'
end

complete -c gsc -f
complete -c gsc -n __gsc_no_command -s h -l help -d 'say what there is'
complete -c gsc -n __gsc_no_command -l version -d 'print the version'
complete -c gsc -n __gsc_no_command -a help -d 'what there is, or the options of a command'
)fish";

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

/// " -a ..." with what may stand for the value.
std::string offer(const Option& option) {
  const Choices can_be = choices(option);
  std::vector<std::string> all = can_be.words;
  if (can_be.experiments) all.emplace_back("(__gsc_experiments)");
  if (can_be.folders) all.emplace_back("(__fish_complete_directories)");
  if (!can_be.extensions.empty()) all.push_back(fmt::format("(__gsc_files {})", fmt::join(can_be.extensions, " ")));
  return all.empty() ? "" : " -a " + quoted(fmt::format("{}", fmt::join(all, " ")));
}

std::string lines_of(const CommandText& text) {
  std::string lines =
      fmt::format("\nset -g __gsc_valued_{} {}\n", text.name, fmt::join(flags_of(text.command, true), " "));
  for (const char* condition : {"__gsc_no_command", "'__gsc_argument help 1'"})
    lines += fmt::format("complete -c gsc -n {} -a {} -d {}\n", condition, text.name, quoted(text.title));
  int place = 1;
  for (const Option* option : options_of(text.command)) {
    if (option->positional) {
      lines += fmt::format("complete -c gsc -n '__gsc_argument {} {}{}'{}\n", text.name, place++,
                           option->several ? " more" : "", offer(*option));
      continue;
    }
    lines += fmt::format("complete -c gsc -n '__gsc_command {}'{} -l {}{} -d {}\n", text.name,
                         option->letter.empty() ? "" : " -s " + option->letter, option->name,
                         option->is_switch() ? "" : " -x" + offer(*option), quoted(option->help));
  }
  return lines + fmt::format("complete -c gsc -n '__gsc_command {}' -s h -l help -d 'list these options'\n", text.name);
}

}  // namespace

std::string fish_completion() {
  std::string script = kBegin;
  for (const CommandText& text : command_texts()) script += lines_of(text);
  return script;
}

}  // namespace gsc::cli
