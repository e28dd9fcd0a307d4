// Tables that a team reads together.

#include <gsc/arrays.h>
#include <gsc/file_kind.h>
#include <gsc/team.h>

#include "distributed/all_or_none.h"
#include "io/location.h"

namespace gsc {

std::unique_ptr<Data> open_data(const std::string& location, Team& team) {
  if (team.alone()) return open_data(location);
  std::unique_ptr<Data> data;
  bool in_pieces = false;
  together(team, [&] {
    const std::string extension = lower_extension(split_location(location).path);
    in_pieces = extension == ".npy" || is_hdf5_extension(extension);
    if (in_pieces || team.root()) data = open_data(location);
  });
  if (in_pieces) return data;
  return std::make_unique<RootData>(team, std::move(data));
}

}  // namespace gsc
