#include <gsc/arrays.h>
#include <gsc/team.h>

#include "io/elements.h"

namespace gsc {
namespace {

bool transposing_copies_nothing(const Data& data) { return dynamic_cast<const ArrayData*>(&data) != nullptr; }

}  // namespace

std::unique_ptr<Data> transposed(std::unique_ptr<Data> data) {
  if (transposing_copies_nothing(*data)) return dynamic_cast<const ArrayData&>(*data).transposed();
  Matrix values(data->rows(), data->cols());
  data->read(0, values);
  return std::make_unique<MatrixData>(values.transpose(), data->name());
}

std::unique_ptr<Data> transposed(std::unique_ptr<Data> data, Team& team) {
  if (team.alone() || transposing_copies_nothing(*data)) return transposed(std::move(data));
  std::unique_ptr<Data> turned;
  all_or_none(team, [&] {
    if (team.root()) turned = transposed(std::move(data));
  });
  return std::make_unique<RootData>(team, std::move(turned));
}

}  // namespace gsc
