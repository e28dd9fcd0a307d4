#include "dictionary/coder.h"

#include <algorithm>
#include <cmath>

#include "data/finite.h"
#include "inference/parallel_blocks.h"

namespace gsc {
namespace {

/// Data points that are coded together. As the blocks are the same for any number of threads, so are the bits.
constexpr Index kBlock = 128;
/// What a data point is worth, for the number of threads: some microseconds for any method.
constexpr double kNanoseconds = 5000;

Codes joined(const std::vector<Code>& codes, Index latents) {
  Codes all(latents, static_cast<Index>(codes.size()));
  std::size_t values = 0;
  for (const Code& code : codes) values += code.latents.size();
  all.reserve(static_cast<Index>(values));
  for (std::size_t n = 0; n < codes.size(); ++n) {
    all.startVec(static_cast<Index>(n));
    for (std::size_t i = 0; i < codes[n].latents.size(); ++i)
      all.insertBack(codes[n].latents[i], static_cast<Index>(n)) = codes[n].values[i];
  }
  all.finalize();
  return all;
}

void take_apart(const Codes& all, std::vector<Code>& codes) {
  for (std::size_t n = 0; n < codes.size(); ++n)
    for (Codes::InnerIterator entry(all, static_cast<Index>(n)); entry; ++entry) {
      codes[n].latents.push_back(static_cast<int>(entry.row()));
      codes[n].values.push_back(entry.value());
    }
}

}  // namespace

CentredRows centred_rows(const Data& data, const Model& model, Missing missing) {
  return [&data, intercept = model.intercept, missing](Index first, Index rows, Matrix& block, Matrix& observed) {
    block.resize(rows, data.cols());
    data.read(first, block);
    observed.resize(0, 0);
    if (missing == Missing::nan && block.hasNaN()) {
      observed = (!block.array().isNaN()).cast<double>();
      block = block.array().isNaN().select(0, block);
    }
    require_finite(data, first, block);
    if (intercept.size() > 0) block.rowwise() -= intercept.transpose();
    if (observed.size() > 0) block = block.cwiseProduct(observed);
  };
}

Coded code_rows(const CoderMaker& coder, const CentredRows& rows, Index first, Index count, Index latents,
                const InferenceOptions& options, const StopRequest& stop, const Codes* start) {
  std::vector<Code> codes(static_cast<std::size_t>(count));
  if (start != nullptr) take_apart(*start, codes);
  BlockPlan plan(first, count, 1, kNanoseconds, thread_count(options.threads));
  plan.block_rows = kBlock;
  struct Worker {
    std::unique_ptr<Coder> coder;
    Matrix block, observed;
  };
  std::vector<Worker> workers(static_cast<std::size_t>(plan.threads));
  parallel_blocks(plan, stop, [&](int thread, Index row, Index size) {
    Worker& mine = workers[static_cast<std::size_t>(thread)];
    if (!mine.coder) mine.coder = coder();
    rows(row, size, mine.block, mine.observed);
    mine.coder->code(mine.block, mine.observed,
                     std::span(codes).subspan(static_cast<std::size_t>(row - first), static_cast<std::size_t>(size)));
  });
  Coded result{joined(codes, latents), Vector(count), Vector(count)};
  for (Index n = 0; n < count; ++n) {
    result.squared_error[n] = codes[static_cast<std::size_t>(n)].squared_error;
    result.penalty[n] = codes[static_cast<std::size_t>(n)].penalty;
  }
  return result;
}

Imputed impute_by_codes(const Model& model, const Data& data, const InferenceOptions& options,
                        const ImputeOptions& what, Index first, Index count, const StopRequest& stop) {
  const Coded coded = code_rows(make_coder(model, options), centred_rows(data, model, options.missing), first, count,
                                model.latents(), options, stop);
  Matrix filled(count, data.cols());
  data.read(first, filled);
  Eigen::RowVectorXd modelled(data.cols());
  for (Index n = 0; n < count; ++n) {
    modelled.setZero();
    if (model.intercept.size() > 0) modelled = model.intercept.transpose();
    for (Codes::InnerIterator entry(coded.codes, n); entry; ++entry)
      modelled += entry.value() * model.W.col(entry.row()).transpose();
    for (Index d = 0; d < data.cols(); ++d)
      if (what.denoise_observed || std::isnan(filled(n, d))) filled(n, d) = modelled[d];
  }
  return {std::move(filled), {}};
}

std::string_view to_string(AtomUpdate update) { return update == AtomUpdate::exact ? "exact" : "approximate"; }

std::string_view to_string(Coding coding) {
  switch (coding) {
    case Coding::lasso:
      return "lasso";
    case Coding::bounded:
      return "bounded";
    case Coding::omp:
      return "omp";
  }
  return "";
}

}  // namespace gsc
