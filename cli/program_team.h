#pragma once
// The processes this program runs as: those that mpirun started, or one.

#include <gsc/fit.h>

#include <string>

namespace gsc::cli {

/// Comes first in main(). Throws UsageError if several processes were started of a program that was built for one.
void start_team();
Team& team();
/// Comes last in main(), on all processes. Prints the message of the first that failed; returns the exit code for all.
int finish_team(int code, const std::string& message);

/// For commands that do not divide their work.
void require_one_process(const std::string& command);

/// All processes learn together; the cores of a machine are divided among its processes unless the user says otherwise.
void use_team(FitOptions& options);

/// "", ", 4 processes".
std::string processes_text();

}  // namespace gsc::cli
