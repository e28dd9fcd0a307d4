#pragma once
// Models and results of learning as bytes.

#include <gsc/fit.h>

#include "distributed/packing.h"

namespace gsc {

Packer& operator<<(Packer& packer, const Model& model);
Unpacker& operator>>(Unpacker& unpacker, Model& model);
Packer& operator<<(Packer& packer, const FitResult& result);
Unpacker& operator>>(Unpacker& unpacker, FitResult& result);

}  // namespace gsc
