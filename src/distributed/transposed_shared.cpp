#include "distributed/transposed_shared.h"

#include "data/transposed.h"
#include "distributed/together.h"

namespace gsc {

std::unique_ptr<Data> transposed(std::unique_ptr<Data> data, Team& team) {
  if (team.alone() || transposing_copies_nothing(*data)) return transposed(std::move(data));
  std::unique_ptr<Data> turned;
  together(team, [&] {
    if (team.root()) turned = transposed(std::move(data));
  });
  return std::make_unique<RootData>(team, std::move(turned));
}

}  // namespace gsc
