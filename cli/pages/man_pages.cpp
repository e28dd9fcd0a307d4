#include "pages/man_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <system_error>

#include "pages/completion.h"
#include "pages/help.h"
#include "pages/roff.h"

namespace gsc::cli {
namespace {

std::string heading(const std::string& page, const Edition& edition, const std::string& title) {
  std::string capitals = page;
  std::transform(capitals.begin(), capitals.end(), capitals.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format(
      ".\\\" Made by gsc make-pages from the table of options.\n.TH {} 1 {} \"gsc {}\" \"User Commands\"\n"
      ".SH NAME\n{} \\- {}\n",
      roff_literal(capitals), edition.date, edition.version, roff_literal(page), title);
}

/// A term in the margin and what it means.
std::string item(const std::string& term, const std::string& meaning) {
  return fmt::format(".TP\n{}\n{}", term, roff_text(meaning));
}

std::string bold(const std::string& text) { return fmt::format("\\fB{}\\fR", roff_literal(text)); }

std::string option_item(const Option& option, Command command) {
  std::string term;
  if (option.positional) {
    term = roff_value(option.value);
  } else {
    if (!option.letter.empty()) term = bold(fmt::format("-{}", option.letter)) + ", ";
    term += bold(fmt::format("--{}", option.name));
    if (!option.is_switch()) term += fmt::format(" {}", roff_value(option.value));
  }
  const std::string left_out = option.default_text(command);
  std::string text = option.help + ".";
  if (option.required)
    text += " Required.";
  else if (!left_out.empty())
    text += fmt::format(" If left out: {}.", left_out);
  return item(term, text);
}

std::string exit_status() {
  return ".SH EXIT STATUS\n" + item(bold("0"), "done.") +
         item(bold("1"),
              "failure while running: a file that cannot be read, impossible data, a full disk, not enough memory.") +
         item(bold("2"),
              "wrong usage: an unknown option, a value that makes no sense, an output that cannot be written. Nothing "
              "was "
              "done.") +
         item(bold("130"), "interrupted by Ctrl-C or SIGTERM, after saving a checkpoint where one was asked for.") +
         ".PP\n" +
         roff_text(
             "Messages go to standard error, begin with the command and name the file or option, the value, and what "
             "to do.");
}

/// All pages but this one, in the order of the alphabet.
std::string see_also(const std::string& page) {
  std::vector<std::string> pages{"gsc"};
  for (const CommandText& text : command_texts()) pages.push_back("gsc-" + text.name);
  pages.erase(std::find(pages.begin(), pages.end(), page));
  std::sort(pages.begin(), pages.end());
  std::string result = ".SH SEE ALSO\n";
  for (const std::string& name : pages)
    result += fmt::format(".BR \\%{} (1){}\n", roff_literal(name), name == pages.back() ? "" : ",");
  return result;
}

bool has_option(Command command, const std::string& name) {
  const std::vector<const Option*> options = options_of(command);
  return std::any_of(options.begin(), options.end(), [&](const Option* option) { return option->name == name; });
}

std::string threads_item() {
  return item(
      bold("OMP_NUM_THREADS"),
      "threads to use where --threads is not given. The same data, options, seed and number of threads give the "
      "same bits; other numbers of threads agree up to rounding.");
}

std::string data_item() {
  return item(bold("GSC_DATA"), "folder of the benchmark data for gsc reproduce where --data is not given.");
}

std::string environment_of(Command command) {
  std::string items;
  if (command == kReproduce) items += data_item();
  if (has_option(command, "threads")) items += threads_item();
  return items.empty() ? "" : ".SH ENVIRONMENT\n" + items;
}

}  // namespace

std::string general_man_page(const Edition& edition) {
  std::string page = heading("gsc", edition, "spike-and-slab sparse coding by truncated EM");
  page +=
      ".SH SYNOPSIS\n\\fBgsc\\fR \\fICOMMAND\\fR ...\n.br\n\\fBgsc\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR\n.SH "
      "DESCRIPTION\n";
  page += roff_text(about_text());
  page += ".PP\n" + roff_text(
                        "gsc fit learns basis functions, how often and how strongly each is used, and the noise level; "
                        "other commands use "
                        "what was learned, or do all of it for a picture or a recording. Results go to the files that "
                        "are named, or to "
                        "standard output; talk goes to standard error. Every file gets its name only when it is "
                        "complete: a run that fails "
                        "or is stopped leaves the old file as it was.");
  page += ".SH COMMANDS\n";
  for (const CommandText& text : command_texts())
    page += item(fmt::format("\\fBgsc {}\\fR {}", text.name, roff_usage(text.arguments)),
                 fmt::format("{} See gsc-{}(1).", text.summary, text.name));
  page += ".SH OPTIONS\n";
  page += item(bold("-h") + ", " + bold("--help"), "say what there is; behind a command, what its options are.");
  page += item(bold("--version"), "print the version.");
  page += ".SH ENVIRONMENT\n" + data_item() + threads_item();
  page += ".SH FILES\n";
  page += item(
      "\\fIMODEL.h5\\fR",
      "a model: HDF5, readable without gsc. /parameters holds W (dimensions x latents), pi and mu (how often "
      "each latent is active, and its mean amplitude), slab (variances of the amplitudes, or their covariance) and "
      "noise. A checkpoint is such a file, too; gsc fit --resume goes on from either.");
  page +=
      item("\\fIFILE.toml\\fR",
           "options for --config, by their names. What stands before the first section counts for every command that "
           "has such an option, a section [fit] for gsc fit only. The command line wins.");
  page += exit_status();
  page += ".SH EXAMPLES\n" + roff_text("A first try, without data of your own:") + ".PP\n" + roff_example(first_try());
  return page + see_also("gsc");
}

std::string command_man_page(Command command, const Edition& edition) {
  const CommandText& text = text_of(command);
  const std::string name = "gsc-" + text.name;
  std::string page = heading(name, edition, text.title);
  page += fmt::format(".SH SYNOPSIS\n\\fBgsc {}\\fR {}\n.SH DESCRIPTION\n{}.SH OPTIONS\n", text.name,
                      roff_usage(text.arguments), roff_text(text.summary));
  std::string group;
  for (const Option* option : options_of(command)) {
    if (option->group != group) page += fmt::format(".SS {}\n", group = option->group);
    page += option_item(*option, command);
  }
  page += ".SS Help\n" + item(bold("-h") + ", " + bold("--help"), "list these options.");
  page += environment_of(command) + exit_status();
  page += ".SH EXAMPLES\n" + roff_example(text.examples);
  return page + see_also(name);
}

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) throw Error(fmt::format("{} cannot be written; choose another folder", path.string()));
}

}  // namespace

void make_pages(const std::filesystem::path& folder, const Edition& edition) {
  write(folder / "man1/gsc.1", general_man_page(edition));
  for (const CommandText& text : command_texts())
    write(folder / fmt::format("man1/gsc-{}.1", text.name), command_man_page(text.command, edition));
  write(folder / "bash/gsc", bash_completion());
  write(folder / "zsh/_gsc", zsh_completion());
  write(folder / "fish/gsc.fish", fish_completion());
}

}  // namespace gsc::cli
