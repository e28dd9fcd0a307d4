#pragma once
// Man pages: gsc(1), and gsc-fit(1) and so on for the commands. All they say about options comes from the table.

#include <filesystem>
#include <string>

#include "options/options.h"

namespace gsc::cli {

/// What stands at the foot of every page.
struct Edition {
  std::string version;  ///< "0.2.0"
  std::string date;  ///< of the release, "2026-11-30"; not of the build, so that a page is the same whoever builds it
};

std::string general_man_page(const Edition& edition);
std::string command_man_page(Command command, const Edition& edition);

/// Writes man1/gsc.1, man1/gsc-fit.1, ... and the completions bash/gsc, zsh/_gsc and fish/gsc.fish below `folder`.
void make_pages(const std::filesystem::path& folder, const Edition& edition);

}  // namespace gsc::cli
