#include <gsc/fit_piece.h>

#include <cmath>

#include "learning/known_noise.h"
#include "math/numeric_scope.h"
#include "truncated/host_learning.h"
#include "truncated/stepwise.h"

namespace gsc {
namespace {

void check(const FitOptions& options) {
  options.validate();
  const MethodTraits& its = traits(options.inference.method);
  if (!its.has_states)
    throw UsageError("method is " + std::string(its.word) +
                     ", which keeps something of every data point from iteration to iteration and cannot learn "
                     "from pieces; choose truncated or exact");
  if (!options.sharing.team->alone()) throw UsageError("pieces are learned from by one process, not by a team");
}

/// The model to start from, unless there is one.
void begin(Model& model, const Data& piece, const DataSummary& summary, const FitOptions& options) {
  if (model.latents() == 0) {
    Random random(options.seed);
    model = initial_model(piece, summary, options.latents, options.noise, options.slab, options.init, random,
                          options.intercept);
  }
  hold_noise(model, options, 0);
}

}  // namespace

IterationReport fit_piece(PiecewiseState& state, const Data& piece, const FitOptions& asked, const StopRequest& stop) {
  const NumericScope scope;
  check(asked);
  FitOptions options = asked;
  if (options.batch == 0) options.batch = piece.rows();
  options.inference.mean_products = options.noise_update == Update::paper;
  Share share(piece, options.sharing);
  Model model = state.model;
  if (state.pieces == 0)
    begin(model, piece, share.summarize(options.noise == NoiseType::full, options.inference.missing == Missing::nan),
          options);
  else if (piece.cols() != model.dimensions())
    throw Error(piece.name() + " has " + std::to_string(piece.cols()) +
                " columns, but what was learned from before had " + std::to_string(model.dimensions()));
  const std::unique_ptr<Engine> engine = make_engine(share.rows(), options.inference);
  const std::unique_ptr<ResidentEm> em = learning_of(share, *engine, model, options);
  Stepwise batches(share, *em, options);
  batches.load(state.method, model);
  batches.rescale();
  const Evaluation judged = batches.pass(state.pieces + 1, stop);
  model = em->model();

  IterationReport report;
  report.iteration = state.pieces + 1;
  report.free_energy = judged.free_energy;
  report.noise_std = std::sqrt(model.noise.mean_variance());
  report.mean_active = judged.mean_active;
  report.latents_in_use = judged.latents_in_use;
  report.estimated = true;
  report.rescues = judged.rescues.total();
  MethodState method;
  batches.save(method);
  state = {std::move(model), std::move(method), state.pieces + 1, state.points + static_cast<double>(piece.rows())};
  return report;
}

}  // namespace gsc
