// The team of a program that was built without MPI.

#include <fmt/format.h>

#include <cstdlib>

#include "program_team.h"
#include "streams.h"

namespace gsc::cli {

void start_team() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* size = std::getenv(variable); size != nullptr && std::atoi(size) > 1)
      throw UsageError(
          fmt::format("started as {} processes, but gsc works as one; start gsc-mpi instead, which ./run build --mpi "
                      "builds (docs/cluster.md)",
                      size));
}

Team& team() { return solo(); }

int finish_team(int code, const std::string& message) {
  if (!message.empty()) talk(message + "\n");
  return code;
}

void use_team(FitOptions&) {}

}  // namespace gsc::cli
