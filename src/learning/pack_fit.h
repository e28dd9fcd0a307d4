#pragma once
// Models and results of learning as bytes.

#include <gsc/export.h>
#include <gsc/fit.h>

#include "distributed/packing.h"

namespace gsc {

GSC_EXPORT Packer& operator<<(Packer& packer, const Model& model);
GSC_EXPORT Unpacker& operator>>(Unpacker& unpacker, Model& model);
GSC_EXPORT Packer& operator<<(Packer& packer, const FitResult& result);
GSC_EXPORT Unpacker& operator>>(Unpacker& unpacker, FitResult& result);

}  // namespace gsc
