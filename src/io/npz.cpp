#include "io/npz.h"

#include <gsc/file_kind.h>

#include <zip.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "io/file_error.h"
#include "io/npy.h"

namespace gsc {
namespace {

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

std::string reason(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

constexpr std::string_view kSuffix = ".npy";

std::string without_suffix(std::string_view name) {
  return std::string(name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name);
}

std::vector<std::byte> unpack(zip_t* archive, zip_uint64_t index, std::uint64_t archive_size, const std::string& name) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded)
    fail(name, "the archive is damaged: {}; write it again", zip_strerror(archive));
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
    fail(name, "is packed with zip method {}; save it with numpy.savez or numpy.savez_compressed", stat.comp_method);
  if (stat.comp_size > archive_size || stat.size > most_inflated(stat.comp_size))
    fail(name, "the archive is damaged: it promises {} bytes out of {}; write it again", stat.size, stat.comp_size);

  const std::unique_ptr<zip_file_t, CloseMember> file(zip_fopen_index(archive, index, 0));
  if (!file) fail(name, "cannot be unpacked: {}", zip_strerror(archive));
  // One byte more than promised: reading up to the end is what makes libzip compare the checksum.
  std::vector<std::byte> bytes(stat.size + 1);
  std::size_t count = 0;
  while (count < bytes.size()) {
    const zip_int64_t got = zip_fread(file.get(), bytes.data() + count, bytes.size() - count);
    if (got < 0) fail(name, "cannot be unpacked: {}; write the archive again", zip_file_strerror(file.get()));
    if (got == 0) break;
    count += static_cast<std::size_t>(got);
  }
  if (count != stat.size)
    fail(name, "the archive is damaged: {} bytes instead of {}; write it again", count, stat.size);
  bytes.resize(count);
  return bytes;
}

}  // namespace

std::unique_ptr<Data> open_npz(const std::filesystem::path& path, const std::string& member) {
  int code = 0;
  const std::unique_ptr<zip_t, Discard> archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) {
    const std::string words = recognise(path).words;
    fail(path.string(), "cannot be read as a .npz (zip) archive: {}{}; write it again with numpy.savez", reason(code),
         words.empty() ? "" : fmt::format("; by its first bytes it is {}", words));
  }

  const std::string wanted = without_suffix(member);
  std::vector<std::string> names;
  std::optional<zip_uint64_t> found;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i) {
    const char* const entry = zip_get_name(archive.get(), static_cast<zip_uint64_t>(i), 0);
    if (entry == nullptr || !std::string_view(entry).ends_with(kSuffix)) continue;
    names.push_back(without_suffix(entry));
    if (member.empty() || names.back() == wanted) found = static_cast<zip_uint64_t>(i);
  }
  if (!found) {
    if (member.empty()) fail(path.string(), "holds no array; save some with numpy.savez");
    fail(path.string(), "holds no array {}; there are: {}", in_quotes(wanted), list_text(names));
  }
  if (member.empty() && names.size() > 1)
    fail(path.string(), "holds {} arrays, so say which, as in {}:{}; there are: {}", names.size(), path.string(),
         names.front(), list_text(names));

  const std::string name = fmt::format("{}:{}", path.string(), member.empty() ? names.back() : wanted);
  auto bytes = std::make_shared<const std::vector<std::byte>>(
      unpack(archive.get(), *found, std::filesystem::file_size(path), name));
  const std::span<const std::byte> view(*bytes);
  return parse_npy(std::move(bytes), view, name);
}

}  // namespace gsc
