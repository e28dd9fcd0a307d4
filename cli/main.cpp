// gsc: the program. Finds the command, runs it, and turns errors into exit codes.

#include <fmt/format.h>
#include <gsc/version.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <system_error>

#include "commands.h"
#include "devices.h"
#include "options/flags.h"
#include "pages/help.h"
#include "pages/man_pages.h"
#include "program_team.h"
#include "streams.h"

namespace {

using namespace gsc;
using namespace gsc::cli;

int run(Command command, std::vector<std::string> words) try {
  const CommandLine line(command, std::move(words));
  if (line.help) {
    fmt::print("{}", command_help(command));
    return kDone;
  }
  if (!line.note.empty() && !line.settings.quiet && team().root()) talk(fmt::format("gsc: {}\n", line.note));
  constexpr unsigned kDivided = kFit | kDenoise | kSeparate | kReproduce;
  if ((command & kDivided) == 0) require_one_process(text_of(command).name);
  switch (command) {
    case kFit:
      return run_fit(line);
    case kInfer:
      return run_infer(line);
    case kSample:
      return run_sample(line);
    case kDenoise:
      return run_denoise(line);
    case kInpaint:
      return run_inpaint(line);
    case kSeparate:
      return run_separate(line);
    case kCompare:
      return run_compare(line);
    case kReproduce:
      return run_reproduce(line);
    case kReport:
      return run_report(line);
    case kInfo:
      return run_info(line);
  }
  return kFailed;
} catch (const UsageError& error) {
  throw UsageError(in_flags(error.what(), command));
}

int dispatch(std::vector<std::string> words, std::string& name) {
  if (words.empty()) {
    if (team().root()) talk(general_help());
    return kWrongUsage;
  }
  std::string first = words.front();
  if (first == "help" && words.size() > 1) {  // gsc help fit
    first = words[1];
    words = {first, "--help"};
  }
  if (first == "--help" || first == "-h" || first == "help") {
    fmt::print("{}", general_help());
    return kDone;
  }
  if (first == "--version") {
    fmt::print("gsc {}\n", GSC_VERSION);
    return kDone;
  }
  if (first == "options-markdown") {  // for docs/cli.md
    fmt::print("{}", options_markdown());
    return kDone;
  }
  if (first == "make-pages" && words.size() == 3) {  // FOLDER DATE; for the build
    make_pages(words[1], {GSC_VERSION, words[2]});
    return kDone;
  }
  std::vector<std::string> names;
  for (const CommandText& text : command_texts()) {
    if (text.name == first) {
      name += " " + first;
      return run(text.command, {words.begin() + 1, words.end()});
    }
    names.push_back(text.name);
  }
  if (first.rfind('-', 0) == 0)
    throw UsageError(fmt::format("unknown option {}{} A command comes first, as in gsc fit; see gsc --help", first,
                                 suggestion(first, {"--help", "--version"})));
  throw UsageError(fmt::format("unknown command '{}'{} There are {}; see gsc --help", first, suggestion(first, names),
                               fmt::join(names, ", ")));
}

}  // namespace

int main(int argc, char** argv) {
  // A file that hits a size limit is then an error of write(), which is reported, not a signal, which kills.
  std::signal(SIGXFSZ, SIG_IGN);
  prepare_streams();
  std::string name = "gsc";
  int code = kFailed;
  std::string message;
  const auto complain = [&](const std::string& text) { message = fmt::format("{}: {}", name, text); };
  try {
    start_team();
    add_devices();
    code = dispatch({argv + 1, argv + argc}, name);
    if (std::fflush(stdout) != 0)
      throw std::system_error(errno, std::generic_category(), "standard output could not be written");
  } catch (const UsageError& error) {
    code = kWrongUsage;
    complain(error.what());
  } catch (const Interrupted& error) {
    code = kInterrupted;
    complain(error.what());
  } catch (const std::system_error& error) {
    // Whoever read our output has seen enough: gsc sample ... -o - | head. Nothing is wrong that he does not know.
    code = kFailed;
    if (error.code() != std::errc::broken_pipe) complain(error.what());
  } catch (const std::bad_alloc&) {
    code = kFailed;
    complain("not enough memory; fewer data points at a time, fewer latents or fewer threads need less");
  } catch (const std::exception& error) {
    code = kFailed;
    complain(error.what());
  }
  return finish_team(code, message);
}
