#include "learning/dictionary_learner.h"

#include <algorithm>
#include <cmath>

#include "model/random_draws.h"

namespace gsc {

void DictionaryLearner::check(const FitOptions& options) {
  if (!options.sharing.team->alone())
    throw UsageError("method is " + std::string(to_string(options.inference.method)) +
                     ", which learns in one process, but there are " + std::to_string(options.sharing.team->size()) +
                     "; start it without mpirun, on several threads");
}

DictionaryLearner::DictionaryLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop)
    : options_(options), model_(std::move(beginning.model)), stop_(std::move(stop)) {
  const Data& data = share.rows();
  if (model_.latents() > data.rows())
    throw UsageError("latents is " + std::to_string(model_.latents()) + ", but " + data.name() + " has only " +
                     std::to_string(data.rows()) + " data points, and atoms need some each; ask for fewer");
  if (!beginning.saved) {
    Random random = random_of(0);
    normalise_atoms(model_.W, random);
  }
  centred_rows(data, model_, options.inference.missing)(0, data.rows(), rows_.X, rows_.observed);
}

void DictionaryLearner::ask_to_go_on() const {
  if (stop_ && stop_()) throw Interrupted("interrupted");
}

Random DictionaryLearner::random_of(int row) const {
  std::seed_seq seed{options_.seed & 0xffffffffU, options_.seed >> 32U, static_cast<std::uint64_t>(row)};
  return Random(seed);
}

Coded DictionaryLearner::coded_by(const Model& model) const {
  const CentredRows read = [this](Index first, Index count, Matrix& block, Matrix& observed) {
    block = rows_.X.middleRows(first, count);
    if (rows_.observed.size() > 0) observed = rows_.observed.middleRows(first, count);
  };
  return code_rows(make_coder(model, options_.inference), read, 0, rows_.X.rows(), model.latents(), options_.inference,
                   stop_);
}

Evaluation DictionaryLearner::judged(const Rescues& rescues) const {
  const Vector users = users_of(coded_.codes);
  return {objective(coded_), users.sum() / static_cast<double>(rows_.X.rows()), (users.array() >= 1).count(), rescues,
          false};
}

Evaluation DictionaryLearner::begin(int /*row*/) {
  coded_ = coded_by(model_);
  describe_codes(coded_.codes, model_);
  return judged({});
}

Evaluation DictionaryLearner::iterate(int row) {
  Rescues rescues;
  Model next = model_;
  Coded changed = coded_;
  improve(next.W, changed, row, rescues);
  changed = coded_by(next);
  describe_codes(changed.codes, next);
  model_ = std::move(next);
  coded_ = std::move(changed);
  return judged(rescues);
}

void normalise_atoms(Matrix& W, Random& random) {
  for (Index h = 0; h < W.cols(); ++h) {
    if (!(W.col(h).norm() > 0)) W.col(h) = standard_normal(W.rows(), 1, random);
    W.col(h) /= W.col(h).norm();
  }
}

Vector users_of(const Codes& codes) {
  Vector users = Vector::Zero(codes.rows());
  for (Index n = 0; n < codes.cols(); ++n)
    for (Codes::InnerIterator entry(codes, n); entry; ++entry) users[entry.row()] += entry.value() != 0 ? 1 : 0;
  return users;
}

void describe_codes(const Codes& codes, Model& model) {
  const Index H = codes.rows();
  const Vector users = users_of(codes);
  Vector sum = Vector::Zero(H), squares = Vector::Zero(H);
  for (Index n = 0; n < codes.cols(); ++n)
    for (Codes::InnerIterator entry(codes, n); entry; ++entry) {
      sum[entry.row()] += entry.value();
      squares[entry.row()] += entry.value() * entry.value();
    }
  constexpr double kFloor = 1e-7;  // of pi, as in EM
  model.pi = (users / static_cast<double>(codes.cols())).cwiseMax(kFloor).cwiseMin(1 - kFloor);
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
