#pragma once
// One way to watch whatever takes long, and to stop it: learning, separation, denoising, inpainting, inference.

#include <gsc/export.h>
#include <gsc/types.h>

#include <functional>
#include <memory>
#include <string>

namespace gsc {

struct FitState;  // <gsc/fit.h>
struct Picture;   // <gsc/picture.h>

/// How far work is that is more than learning one model.
struct Progress {
  double fraction = 0;              ///< of the whole work, 0..1
  const FitState* state = nullptr;  ///< of denoise(): while a model is learned; null while inferring
  int model = 0, models = 1;        ///< of denoise(): which model is in work, from 0 on
  int round = 0, rounds = 0;        ///< of denoise() and inpaint(): of groups of patches that look alike, from 1 on
  bool half_size = false;           ///< of denoise(), once the groups are done: the picture of half the size
};

/// Every method may be left alone. In a team every rank may have one.
class GSC_EXPORT Watcher {
 public:
  virtual ~Watcher() = default;
  /// Learning, also from several starts and of sources: after each row of the history; `state.history.back()` is new.
  virtual void on_iteration(const FitState& state) { (void)state; }
  /// Whether on_iteration() will read state.method, as a checkpoint does; else that need not be up to date. Asked
  /// before, on the root of a team, where it is gathered from all ranks.
  virtual bool needs_method_state(const FitState& state) {
    (void)state;
    return false;
  }
  /// Denoising, inpainting and inference: now and then.
  virtual void on_progress(const Progress& progress) { (void)progress; }
  /// What the user should know about the data or the options, before the first row.
  virtual void on_note(const std::string& note) { (void)note; }
  /// Asked between blocks of data, from one thread; true ends the work of all ranks. Learning returns what there is at
  /// the last complete row, with StopReason::interrupted: one can go on from that. All else throws Interrupted.
  virtual bool stop_requested() { return false; }
};

/// The same question for a single pass over the data, and for engines: true abandons it, with Interrupted.
using StopRequest = std::function<bool()>;

/// Somebody asked to stop.
class GSC_EXPORT Interrupted : public Error {
 public:
  using Error::Error;
  std::shared_ptr<const Picture> picture = {};  ///< of denoise() and inpaint(): as far as it was; null: nothing yet
};

}  // namespace gsc
