// The team of gsc-mpi: the processes that mpirun started.

#include <fmt/format.h>
#include <gsc/mpi.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "program_team.h"
#include "streams.h"

namespace gsc::cli {
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
    talk(message + "\n");
  }
  return code;
}

void use_team(FitOptions& options) {
  options.sharing.team = &team();
  if (mpi_team && options.inference.threads == 0 && std::getenv("OMP_NUM_THREADS") == nullptr)
    options.inference.threads = mpi_team->threads();
}

}  // namespace gsc::cli
