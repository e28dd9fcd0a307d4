#pragma once

#include <filesystem>

#include "pages/man_pages.h"

namespace gsc::cli {

/// Writes man1/gsc.1, man1/gsc-fit.1, ... and the completions bash/gsc, zsh/_gsc and fish/gsc.fish below `folder`.
void make_pages(const std::filesystem::path& folder, const Edition& edition);

}  // namespace gsc::cli
