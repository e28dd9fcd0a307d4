#include <gsc/missing.h>

#include <limits>

#include "data/finite.h"

namespace gsc {

MaskedData::MaskedData(const Data& data, const Data& mask) : data_(data), mask_(&mask) {
  if (mask.rows() != data.rows() || mask.cols() != data.cols())
    throw Error(mask.name() + ": the mask has " + std::to_string(mask.rows()) + " rows and " +
                std::to_string(mask.cols()) + " columns, the data " + data.name() + " has " +
                std::to_string(data.rows()) + " and " + std::to_string(data.cols()) +
                "; a mask has an entry for every value, anything but 0 where it is missing");
}

void MaskedData::read(Index first, Eigen::Ref<Matrix> block) const {
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  data_.read(first, block);
  if (mask_ == nullptr) {
    block = (block.array() == value_).select(kMissing, block);
    return;
  }
  Matrix mask(block.rows(), block.cols());
  mask_->read(first, mask);
  require_finite(*mask_, first, mask);
  block = (mask.array() != 0).select(kMissing, block);
}

}  // namespace gsc
