#pragma once
// A team whose ranks are threads of this process: for experiments and tests without MPI.

#include <gsc/team.h>

#include <functional>

namespace gsc {

/// Calls body(team) on `ranks` threads, one for each rank, of which `per_node` at a time make a node (0: all). Returns
/// when all have ended; throws what the first of them threw, and the others then get an Error where they wait for it.
void run_ranks(int ranks, int per_node, const std::function<void(Team&)>& body);

}  // namespace gsc
