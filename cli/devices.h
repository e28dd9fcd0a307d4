#pragma once
// What --device may be in this program, and what `gsc info --devices` tells about it.

#include "metrics.h"

namespace gsc::cli {

/// GPUs, if the program was built with them. Asks no driver anything yet.
void add_devices();

/// The devices of this machine, and why there is no GPU if there is none.
Json devices_json();
std::string devices_text(const Json& devices);

}  // namespace gsc::cli
