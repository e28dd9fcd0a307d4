#include <gsc/inference.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <utility>

namespace gsc {
namespace {

/// Physical cores among the processors this process may run on; hyper-threads of one core count once.
int physical_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  std::set<std::pair<int, int>> cores;
  int processors = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    ++processors;
    const std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    int package = -1, core = -1;
    std::ifstream(topology + "physical_package_id") >> package;
    if (std::ifstream(topology + "core_id") >> core) cores.emplace(package, core);
  }
  return cores.empty() ? std::max(1, processors) : static_cast<int>(cores.size());
}

}  // namespace

int thread_count(int requested) {
  if (requested > 0) return requested;
  // Read here and not from OpenMP: a BLAS built with OpenMP changes OpenMP's own setting. A list gives nested levels.
  if (const char* setting = std::getenv("OMP_NUM_THREADS"))
    if (const int threads = std::atoi(setting); threads > 0) return threads;
  static const int cores = physical_cores();
  return cores;
}

}  // namespace gsc
