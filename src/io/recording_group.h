#pragma once
// The group /recording of a model file: window, hop and channels as integers, rate as a number if it is known, and
// names as one text with a line for each channel.

#include <gsc/recording.h>

#include <optional>

#include "io/hdf5.h"

namespace gsc {

void write_recording(hdf5::Image& image, const Recording& recording);

/// Nothing if there is no such group. Throws Error unless it describes a model of so many `dimensions`.
std::optional<Recording> read_recording(const hdf5::File& file, Index dimensions);

}  // namespace gsc
