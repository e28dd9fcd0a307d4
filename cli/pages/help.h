#pragma once
// What --help says, and the tables of docs/cli.md; both come from the table of options.

#include <string>
#include <vector>

#include "options/options.h"

namespace gsc::cli {

/// What a command is called and what its help says beside the options.
struct CommandText {
  Command command;
  std::string name;
  std::string arguments;
  std::string title;    ///< a few words
  std::string summary;  ///< a sentence
  std::string examples;
};
const std::vector<CommandText>& command_texts();
const CommandText& text_of(Command command);

/// Breaks a text at spaces for a terminal; lines after the first begin at column `indent`, where the first is taken to
/// begin. Ends the last line.
std::string wrapped(const std::string& text, std::size_t indent);

/// What the program is, and how to see it work without data: for help and man page.
std::string about_text();
std::string first_try();

std::string general_help();
std::string command_help(Command command);
std::string options_markdown();

}  // namespace gsc::cli
