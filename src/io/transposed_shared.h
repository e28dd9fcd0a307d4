#pragma once

#include <gsc/data.h>
#include <gsc/team.h>

#include <memory>

namespace gsc {

/// transposed() on all ranks of a team; where a copy is made, the root holds it (RootData).
std::unique_ptr<Data> transposed(std::unique_ptr<Data> data, Team& team);

}  // namespace gsc
