#include "dictionary/learner.h"

#include <algorithm>
#include <cmath>

#include "dictionary/packed_codes.h"
#include "model/random_draws.h"

namespace gsc {

void DictionaryLearner::check(const FitOptions& options) {
  if (!options.sharing.team->alone())
    throw UsageError("method is " + std::string(to_string(options.inference.method)) +
                     ", which learns in one process, but there are " + std::to_string(options.sharing.team->size()) +
                     "; start it without mpirun, on several threads");
}

DictionaryLearner::DictionaryLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop,
                                     CodesFrom codes_from)
    : options_(options),
      model_(beginning.saved ? std::move(beginning.model)
                             : start_dictionary(share.rows(), options, std::move(beginning.model))),
      stop_(std::move(stop)),
      codes_from_(codes_from) {
  const Data& data = share.rows();
  if (beginning.saved) start_ = unpacked(beginning.saved->column("codes"), model_.latents());
  if (start_.size() > 0 && start_.cols() != data.rows())
    throw Error("the checkpoint has codes of " + std::to_string(start_.cols()) + " data points, but " + data.name() +
                " has " + std::to_string(data.rows()) + "; resume with the data it was learned from");
  centred_rows(data, model_, options.inference.missing)(0, data.rows(), rows_.X, rows_.observed);
}

void DictionaryLearner::ask_to_go_on() const {
  if (stop_ && stop_()) throw Interrupted("interrupted");
}

Random DictionaryLearner::random_of(int row) const { return random_of_row(options_.seed, row); }

Coded DictionaryLearner::coded_by(const Model& model, const Codes& start) const {
  const CentredRows read = [this](Index first, Index count, Matrix& block, Matrix& observed) {
    block = rows_.X.middleRows(first, count);
    if (rows_.observed.size() > 0) observed = rows_.observed.middleRows(first, count);
  };
  return code_rows(make_coder(model, options_.inference), read, 0, rows_.X.rows(), model.latents(), options_.inference,
                   stop_, start.size() > 0 ? &start : nullptr);
}

Evaluation DictionaryLearner::judged(const Rescues& rescues) {
  CodeMoments moments(model_.latents());
  moments.add(coded_.codes);
  moments.describe(model_);
  return {objective(coded_), moments.users.sum() / moments.points, (moments.users.array() >= 1).count(), rescues,
          false};
}

Evaluation DictionaryLearner::begin(int /*row*/) {
  coded_ = coded_by(model_, start_);
  return judged({});
}

Evaluation DictionaryLearner::iterate(int row) {
  Rescues rescues;
  Model next = model_;
  Coded changed = coded_;
  improve(next.W, changed, row, rescues);
  Codes start;
  if (codes_from_ == CodesFrom::last_iteration) start = std::move(changed.codes);
  changed = coded_by(next, start);
  model_ = std::move(next);
  start_ = std::move(start);
  coded_ = std::move(changed);
  return judged(rescues);
}

void DictionaryLearner::save(MethodState& state) const {
  if (codes_from_ == CodesFrom::last_iteration && start_.size() > 0) state.columns["codes"] = packed(start_);
}

Model start_dictionary(const Data& data, const FitOptions& options, Model model) {
  if (model.latents() > data.rows())
    throw UsageError("latents is " + std::to_string(model.latents()) + ", but " + data.name() + " has only " +
                     std::to_string(data.rows()) + " data points, and atoms need some each; ask for fewer");
  Random random = random_of_row(options.seed, 0);
  normalise_atoms(model.W, random);
  return model;
}

Random random_of_row(std::uint64_t seed, int row) {
  std::seed_seq parts{seed & 0xffffffffU, seed >> 32U, static_cast<std::uint64_t>(row)};
  return Random(parts);
}

void normalise_atoms(Matrix& W, Random& random) {
  for (Index h = 0; h < W.cols(); ++h) {
    if (!(W.col(h).norm() > 0)) W.col(h) = standard_normal(W.rows(), 1, random);
    W.col(h) /= W.col(h).norm();
  }
}

CodeMoments::CodeMoments(Index latents)
    : users(Vector::Zero(latents)), sum(Vector::Zero(latents)), squares(Vector::Zero(latents)) {}

void CodeMoments::add(const Codes& codes) {
  points += static_cast<double>(codes.cols());
  for (Index n = 0; n < codes.cols(); ++n)
    for (Codes::InnerIterator entry(codes, n); entry; ++entry) {
      users[entry.row()] += entry.value() != 0 ? 1 : 0;
      sum[entry.row()] += entry.value();
      squares[entry.row()] += entry.value() * entry.value();
    }
}

void CodeMoments::describe(Model& model) const {
  const Index H = users.size();
  constexpr double kFloor = 1e-7;  // of pi, as in EM
  model.pi = (users / points).cwiseMax(kFloor).cwiseMin(1 - kFloor);
  model.mu = Vector::Zero(H);
  // Of an atom that nobody uses nothing is known but that its coefficients do not stand out of the noise.
  Vector variances = Vector::Constant(H, model.noise.mean_variance());
  for (Index h = 0; h < H; ++h) {
    if (users[h] == 0) continue;
    model.mu[h] = sum[h] / users[h];
    const double square = squares[h] / users[h];
    variances[h] = std::max(square - model.mu[h] * model.mu[h], 1e-6 * square);
  }
  model.slab = Slab::diagonal(variances);
}

}  // namespace gsc
