#pragma once
// Holes that are larger than a patch, filled from the outside in, before any round of groups: a first guess inside them
// is so smooth that patches there look like each other and like nothing else.
//
// Only these holes: single gaps and scratches, also those beside a hole, count as known by the first guess, which is
// good in them. Where they are all over the picture, no patch would be whole otherwise.
//
// A shell is what is missing up to a few pixels from what is known. Every patch that has some of it, and enough that is
// known, becomes a draw of the Gaussian of the whole patches that are most like it where it is known
// (masked_group_filter.h); overlapping ones are averaged. Then the shell is known, and the next one's turn comes.
// All bands choose these patches together, so that they agree; then bands are filled three by three, as in rounds of
// groups (channels_together()).

#include <gsc/inpaint.h>

#include <functional>

namespace gsc {

/// Chessboard distance of every pixel to the nearest at which some channel is observed; 0 for these.
Table<std::int32_t> depth_of_holes(const Picture& damaged);

/// 1 for the pixels of deep holes, which are the union of all squares of 2 `least` + 1 pixels a side in which
/// everything is missing; `depth`: that of depth_of_holes(). Scratches, single gaps and what else is too narrow are
/// none.
Table<std::uint8_t> deep_parts(const Table<std::int32_t>& depth, Index least);

/// Fills deep_parts() that reach further than `patch` / 2 pixels from anything observed; `pilot` has a guess at all
/// values and gets better ones there. Returns the number of shells. The same bits whatever the threads. Calls
/// stop_at() now and then; throws Interrupted if that returns true.
int fill_deep_holes(const Picture& damaged, Index patch, double ridge, Picture& pilot,
                    const std::function<bool()>& stop_at, int threads = 1);

/// A guess at what that takes.
double deep_hole_seconds(const Picture& damaged, Index patch, int threads);

}  // namespace gsc
