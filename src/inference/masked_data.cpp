#include <gsc/missing.h>

#include <cmath>
#include <limits>

#include "math/number_text.h"
#include "math/single_precision.h"

namespace gsc {
namespace {

std::string place_text(const std::string& name, Index row, Index column) {
  return name + ": row " + std::to_string(row) + ", column " + std::to_string(column) + " (from 0) ";
}

void require_mask(const Data& mask, Index first, const Matrix& block) {
  if (block.allFinite()) return;
  for (Index i = 0; i < block.rows(); ++i)
    for (Index d = 0; d < block.cols(); ++d)
      if (!std::isfinite(block(i, d)))
        throw Error(place_text(mask.name(), first + i, d) + "of the mask is " +
                    (std::isnan(block(i, d)) ? "NaN" : "infinite") +
                    "; a mask has 0 where a value is there and any other number where it is missing");
}

}  // namespace

MaskedData::MaskedData(const Data& data, double value, Missing nan)
    : data_(data), value_(value), as_float_(in_single_precision(value)), nan_(nan) {}

MaskedData::MaskedData(const Data& data, const Data& mask, Missing nan) : data_(data), mask_(&mask), nan_(nan) {
  if (mask.rows() != data.rows() || mask.cols() != data.cols())
    throw Error(mask.name() + ": the mask has " + std::to_string(mask.rows()) + " rows and " +
                std::to_string(mask.cols()) + " columns, the data " + data.name() + " has " +
                std::to_string(data.rows()) + " and " + std::to_string(data.cols()) +
                "; a mask has an entry for every value, anything but 0 where it is missing");
}

void MaskedData::read(Index first, Eigen::Ref<Matrix> block) const {
  data_.read(first, block);
  Matrix missing(block.rows(), block.cols());
  if (mask_ == nullptr) {
    missing = (block.array() == value_ || block.array() == as_float_).cast<double>();
  } else {
    mask_->read(first, missing);
    require_mask(*mask_, first, missing);
  }
  if (nan_ == Missing::error && block.hasNaN())
    for (Index i = 0; i < block.rows(); ++i)
      for (Index d = 0; d < block.cols(); ++d)
        if (std::isnan(block(i, d)) && missing(i, d) == 0)
          throw Error(place_text(data_.name(), first + i, d) + "is NaN, but " +
                      (mask_ != nullptr ? "the mask has 0 there; set missing to nan as well if NaN are missing values, "
                                        : "what stands for missing values is " + number_text(value_) +
                                              "; make one of the other and set missing to nan if both are missing, ") +
                      "or remove or replace such values first");
  block = (missing.array() != 0).select(std::numeric_limits<double>::quiet_NaN(), block);
}

}  // namespace gsc
