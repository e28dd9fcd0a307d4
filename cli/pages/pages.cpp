#include "pages/pages.h"

#include <fmt/format.h>

#include <fstream>
#include <system_error>

#include "pages/completion.h"
#include "pages/help.h"

namespace gsc::cli {
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
