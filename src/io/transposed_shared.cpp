#include "io/transposed_shared.h"

#include "distributed/all_or_none.h"
#include "io/transposed.h"

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
