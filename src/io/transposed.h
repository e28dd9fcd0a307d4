#pragma once

#include <gsc/data.h>

#include <memory>

namespace gsc {

/// The table with rows and columns exchanged. Numbers in memory or in a mapped file stay where they are; of other
/// tables a copy is made.
std::unique_ptr<Data> transposed(std::unique_ptr<Data> data);
bool transposing_copies_nothing(const Data& data);

}  // namespace gsc
