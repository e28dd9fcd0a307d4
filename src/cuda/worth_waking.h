#pragma once
// Whether work is worth waking a GPU, which `--device auto` asks: by the estimate below it must be done there sooner,
// waking included, than on the processor. N data points, D dimensions, H latents, |K| states, P passes, T threads:
//
//   processor   P N (4 D H / r + |K| t + H u) / T
//   GPU         0.3 s + N D 0.5 ns / T + P (N (4 D H / r' + |K| t' + H u') + 0.3 ms)
//
//                              single      double     measured in
//   r'  products               27 TFlop/s  21         docs/gpu.md, an H200; 0.3 ms is what an iteration has beside
//   t'  a state                4.3 ps      13 ps      a pass (Cholesky to unscale), and the sums of small kernels
//   u'  singleton              11 ps       18 ps
//       conditional            29 ps       29 ps
//           beyond 512         230 ps      230 ps
//
// r, t and u are those of inference/cost_model.h, with 2 / r in products of doubles.
// Waking takes 0.2 to 0.4 s. The data goes there once: 0.5 ns a number is what reading it is taken for
// (device_pass.cpp). Other GPUs are slower, but what they take beside waking decides little.

#include "inference/cost_model.h"

namespace gsc::cuda {

struct Work {
  double points = 0, dimensions = 0, latents = 0, states = 0;
  double passes = 1;
  int threads = 1;
  bool single = false, conditional = false;
};

inline double seconds_on_cpu(const Work& work) {
  const double t = work.single ? kCosts.state_single : kCosts.state;
  const double u = work.conditional ? kCosts.singleton_conditional : kCosts.singleton;
  const double point = 2 * kCosts.product * work.dimensions * work.latents + work.states * t + work.latents * u;
  return 1e-9 * work.passes * work.points * point / work.threads;
}

inline double seconds_on_gpu(const Work& work) {
  const double r = work.single ? 27e12 : 21e12, t = work.single ? 4.3e-12 : 13e-12;
  const double singleton = work.single ? 11e-12 : 18e-12, conditional = work.latents > 512 ? 230e-12 : 29e-12;
  const double u = work.conditional ? conditional : singleton;
  const double point = 4 * work.dimensions * work.latents / r + work.states * t + work.latents * u;
  return 0.3 + work.points * work.dimensions * 0.5e-9 / work.threads + work.passes * (work.points * point + 3e-4);
}

inline bool worth_waking(const Work& work) { return seconds_on_gpu(work) < seconds_on_cpu(work); }

}  // namespace gsc::cuda
