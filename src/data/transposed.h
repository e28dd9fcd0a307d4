#pragma once

#include <gsc/data.h>
#include <gsc/team.h>

#include <memory>

namespace gsc {

/// The table with rows and columns exchanged. Numbers in memory or in a mapped file stay where they are; of other
/// tables a copy is made.
std::unique_ptr<Data> transposed(std::unique_ptr<Data> data);
/// The same on all ranks of a team; where a copy is made, the root holds it (RootData).
std::unique_ptr<Data> transposed(std::unique_ptr<Data> data, Team& team);

}  // namespace gsc
