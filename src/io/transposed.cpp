#include "io/transposed.h"

#include "io/elements.h"

namespace gsc {

bool transposing_copies_nothing(const Data& data) { return dynamic_cast<const ArrayData*>(&data) != nullptr; }

std::unique_ptr<Data> transposed(std::unique_ptr<Data> data) {
  if (transposing_copies_nothing(*data)) return dynamic_cast<const ArrayData&>(*data).transposed();
  Matrix values(data->rows(), data->cols());
  data->read(0, values);
  return std::make_unique<MatrixData>(values.transpose(), data->name());
}

}  // namespace gsc
