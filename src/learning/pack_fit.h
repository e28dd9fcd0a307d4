#pragma once
// Models and results of learning as bytes.

#include <gsc/fit.h>

#include "distributed/packing.h"

namespace gsc {
#pragma GCC visibility push(default)  // for the libraries that build on this one

Packer& operator<<(Packer& packer, const Model& model);
Unpacker& operator>>(Unpacker& unpacker, Model& model);
Packer& operator<<(Packer& packer, const FitResult& result);
Unpacker& operator>>(Unpacker& unpacker, FitResult& result);

#pragma GCC visibility pop
}  // namespace gsc
