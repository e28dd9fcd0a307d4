#include "program_team.h"

#include <fmt/format.h>

namespace gsc::cli {

void require_one_process(const std::string& command) {
  if (!team().alone()) throw UsageError(fmt::format("gsc {} works as one process; start it without mpirun", command));
}

std::string processes_text() { return team().alone() ? "" : fmt::format(", {} processes", team().size()); }

}  // namespace gsc::cli
