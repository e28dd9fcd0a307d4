#include "program_team.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#ifdef GSC_MPI
#include <gsc/mpi.h>

#include <optional>
#endif

namespace gsc::cli {

#ifdef GSC_MPI
namespace {

std::optional<MpiTeam> mpi_team;

/// Alone, MPI is not even started.
bool started_by_mpi() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"})
    if (std::getenv(variable) != nullptr) return true;
  return false;
}

}  // namespace

void start_team() {
  if (!started_by_mpi()) return;
  mpi_team.emplace();
  if (!team().root() && std::freopen("/dev/null", "w", stdout) == nullptr)
    throw Error("standard output of a process that is not the first cannot be closed");
}

Team& team() { return mpi_team ? static_cast<Team&>(*mpi_team) : solo(); }

int finish_team(int code, const std::string& message) {
  if (mpi_team) {
    code = mpi_team->finish(code, message);
    mpi_team.reset();
  } else if (!message.empty()) {
    fmt::print(stderr, "{}\n", message);
  }
  return code;
}

void use_team(FitOptions& options) {
  options.sharing.team = &team();
  if (mpi_team && options.inference.threads == 0 && std::getenv("OMP_NUM_THREADS") == nullptr)
    options.inference.threads = mpi_team->threads();
}
#else
void start_team() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* size = std::getenv(variable); size != nullptr && std::atoi(size) > 1)
      throw UsageError(
          fmt::format("started as {} processes, but this gsc was built for one; build it with "
                      "cmake --preset mpi && cmake --build --preset mpi (docs/cluster.md)",
                      size));
}

Team& team() { return solo(); }

int finish_team(int code, const std::string& message) {
  if (!message.empty()) fmt::print(stderr, "{}\n", message);
  return code;
}

void use_team(FitOptions&) {}
#endif

void require_one_process(const std::string& command) {
  if (!team().alone()) throw UsageError(fmt::format("gsc {} works as one process; start it without mpirun", command));
}

std::string processes_text() { return team().alone() ? "" : fmt::format(", {} processes", team().size()); }

}  // namespace gsc::cli
