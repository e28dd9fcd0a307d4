#include "data/transposed.h"

#include "data/elements.h"
#include "distributed/together.h"

namespace gsc {

std::unique_ptr<Data> transposed(std::unique_ptr<Data> data) {
  if (const auto* array = dynamic_cast<const ArrayData*>(data.get())) return array->transposed();
  Matrix values(data->rows(), data->cols());
  data->read(0, values);
  return std::make_unique<MatrixData>(values.transpose(), data->name());
}

std::unique_ptr<Data> transposed(std::unique_ptr<Data> data, Team& team) {
  if (team.alone() || dynamic_cast<const ArrayData*>(data.get())) return transposed(std::move(data));
  std::unique_ptr<Data> turned;
  together(team, [&] {
    if (team.root()) turned = transposed(std::move(data));
  });
  return std::make_unique<RootData>(team, std::move(turned));
}

}  // namespace gsc
