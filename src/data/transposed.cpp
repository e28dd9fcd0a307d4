#include "data/transposed.h"

#include "data/elements.h"

namespace gsc {

std::unique_ptr<Data> transposed(std::unique_ptr<Data> data) {
  if (const auto* array = dynamic_cast<const ArrayData*>(data.get())) return array->transposed();
  Matrix values(data->rows(), data->cols());
  data->read(0, values);
  return std::make_unique<MatrixData>(values.transpose(), data->name());
}

}  // namespace gsc
