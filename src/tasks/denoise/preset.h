#pragma once
// What a quality and a method stand for where the options leave it open.

#include <gsc/denoise.h>

#include <vector>

namespace gsc {

/// One of the models of a quality. Models that differ make different errors, which averaging takes out.
struct Member {
  PatchMean mean;
  Index larger;  ///< pixels added to the usual patch
};

/// What a quality stands for.
struct Preset {
  Index latents, candidates, max_active;
  int passes, full_iterations, models;  ///< passes of stepwise EM; iterations of full EM
  Index train_patches;
  int nonlocal_rounds, group_rounds;
  std::vector<Index> group_larger;  ///< pixels added to the usual patch of groups, one for each size
  Index group_step, group_reach;
  Index group_most;             ///< times the usual members where patches are as good as equal
  double coarse_share;          ///< DenoisePlan::coarse_share, where noise is strong
  std::vector<Member> members;  ///< the first `models` of them; more if the user wants more, and round again
};

/// From the development set (docs/denoise.md, bench/denoise_set.sh).
Preset preset_of(Quality quality);

/// Learning by dictionaries and by the Beta process is as published: Elad and Aharon 2006, which online learning and
/// feature-sign search take over, and Zhou et al. 2012. The latter have 8 x 8 patches at every pixel, 256 latents, 512
/// for pictures above 300 x 300 pixels, overlapping patches averaged with equal weights, nothing told. In place of their
/// start, which lets patches join over 64 shifted grids, learning begins with patches of the smoothed picture; their
/// patches keep the mean, here it is taken out (House, sigma 25: 32.1 dB kept, 32.2 taken out).
inline constexpr Index kPublishedPatch = 8;

/// Options of learning from `available` patches of a picture of so many pixels: what is chosen, on top of what is usual.
FitOptions learning_options(const DenoiseOptions& options, Index available, Index pixels);

/// An overcomplete dictionary of cosines for patches, where K-SVD starts: with K >= patch frequencies
///
///   v_k(i) = cos(i k pi / K), less its mean where k > 0, of unit norm        i = 0 .. patch-1, k = 0 .. K-1
///
/// an atom is v_k(row) v_l(col).
///
/// patch^2 x count: the `count` atoms of the lowest frequencies k + l, of the fewest K that have so many. Without
/// `constant` they begin after k = l = 0.
Matrix cosine_atoms(Index patch, Index count, bool constant = true);

}  // namespace gsc
