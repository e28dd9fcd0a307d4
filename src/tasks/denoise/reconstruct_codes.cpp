#include "tasks/denoise/reconstruct_codes.h"

#include <algorithm>

#include "dictionary/coder.h"
#include "tasks/picture/parallel_rows.h"
#include "tasks/picture/patches.h"

namespace gsc {
namespace {

constexpr Index kBlock = 8192;  // patches that are reconstructed before they are averaged

}  // namespace

Reconstruction reconstruct_from_codes(const Picture& noisy, const Model& model, const ModelPlan& plan,
                                      const std::function<bool(double)>& go_on) {
  const PatchData data(noisy, grid_positions(noisy.height(), noisy.width(), plan.patch, plan.stride),
                       plan.remove_mean());
  InferenceOptions options = plan.fit.inference;
  options.coding = plan.coding;
  const CoderMaker coder = make_coder(model, options);
  const CentredRows rows = centred_rows(data, model, options.missing);
  const Matrix atoms = model.W.transpose();
  PatchAverager averager(data.positions(), data.channels(), false);
  double done = 0;
  const auto stop = [&] { return go_on && !go_on(done); };
  Matrix patches, means;
  for (Index first = 0; first < data.rows(); first += kBlock) {
    const Index count = std::min(kBlock, data.rows() - first);
    const Coded coded = code_rows(coder, rows, first, count, model.latents(), options, stop);
    patches.resize(count, data.cols());
    data.read(first, patches, means);
    parallel_rows(count, data.cols(), options.threads, [&](Index i) {
      patches.row(i).setZero();
      if (model.intercept.size() > 0) patches.row(i) = model.intercept.transpose();
      for (Codes::InnerIterator entry(coded.codes, i); entry; ++entry)
        patches.row(i) += entry.value() * atoms.row(entry.row());
    });
    add_means(patches, means);
    averager.add_block(first, patches, Vector::Ones(count));
    done = static_cast<double>(first + count) / static_cast<double>(data.rows());
    if (stop()) throw Interrupted("interrupted while denoising");
  }
  Reconstruction result{averager.result(noisy.depth), {}};
  const Matrix& counts = averager.weights();
  for (std::size_t c = 0; c < noisy.channels.size(); ++c) {
    Matrix& pixels = result.picture.channels[c];
    pixels = ((plan.noisy_weight * noisy.channels[c].array() + counts.array() * pixels.array()) /
              (plan.noisy_weight + counts.array()))
                 .matrix();
  }
  return result;
}

}  // namespace gsc
