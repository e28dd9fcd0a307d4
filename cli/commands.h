#pragma once
// One function per command. Each returns the exit code; errors are thrown.

#include "options/command_line.h"

namespace gsc::cli {

constexpr int kDone = 0, kFailed = 1, kWrongUsage = 2, kInterrupted = 130;

int run_fit(const CommandLine& line);
int run_infer(const CommandLine& line);
int run_sample(const CommandLine& line);
int run_denoise(const CommandLine& line);
int run_inpaint(const CommandLine& line);
int run_separate(const CommandLine& line);
int run_compare(const CommandLine& line);
int run_reproduce(const CommandLine& line);
int run_report(const CommandLine& line);
int run_info(const CommandLine& line);

}  // namespace gsc::cli
