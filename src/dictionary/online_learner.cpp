#include "dictionary/online_learner.h"

#include <algorithm>
#include <cmath>

#include "dictionary/lasso_coder.h"
#include "dictionary/learner.h"
#include "learning/row_order.h"
#include "math/number_text.h"

namespace gsc {
namespace {

constexpr Index kUsualBatch = 512;
/// Atoms are looked at every so many batches, counted over all passes, and when a pass over the data is done.
constexpr double kBatchesBetweenLooks = 16;

/// What the passes so far are worth.
class Tally {
 public:
  Tally(Index latents, Coding coding) : bounded_(coding == Coding::bounded), moments_(latents) {}
  void add(const Coded& coded) {
    objective_ += coded.penalty.sum() + (bounded_ ? 0 : coded.squared_error.sum() / 2);
    moments_.add(coded.codes);
  }
  Evaluation evaluation(const Rescues& rescues) const {
    return {objective_ / moments_.points, moments_.users.sum() / moments_.points, (moments_.users.array() >= 1).count(),
            rescues, true};
  }
  const CodeMoments& moments() const { return moments_; }

 private:
  bool bounded_;  // the error is given, and the codes are as small as can be
  double objective_ = 0;
  CodeMoments moments_;
};

/// What is missing of a batch, as the codes have it.
void fill_in(const Coded& coded, const Matrix& atoms, const Matrix& observed, Matrix& X) {
  if (observed.size() == 0) return;
  const Matrix explained = coded.codes.transpose() * atoms;
  X += (1 - observed.array()).matrix().cwiseProduct(explained);
}

Index replace_useless(OnlineDictionary& dictionary, const Matrix& X, Vector errors) {
  Index replaced = 0;
  for (const Index atom : dictionary.useless()) {
    Index worst = 0;
    while (errors.maxCoeff(&worst) > 0) {
      errors[worst] = 0;
      if (!dictionary.replace(atom, X.row(worst))) continue;
      ++replaced;
      break;
    }
  }
  return replaced;
}

}  // namespace

void OnlineLearner::check(const FitOptions& options) {
  DictionaryLearner::check(options);
  if (options.inference.coding.coding != Coding::lasso && options.inference.coding.lambda > 0)
    throw UsageError("lambda is set, but coding is " + std::string(to_string(options.inference.coding.coding)) +
                     ", which ends by the error; leave lambda out, or choose coding lasso");
  const auto refuse = [](const char* name, const std::string& value) {
    throw UsageError(std::string(name) + " is " + value + ", but coding is lasso, which ends by lambda; leave " + name +
                     " out, or choose coding bounded or omp");
  };
  const CodingOptions &asked = options.inference.coding, usual;
  if (asked.coding != Coding::lasso) return;
  if (asked.atoms_per_point != usual.atoms_per_point) refuse("atoms_per_point", std::to_string(asked.atoms_per_point));
  if (asked.error_gain != usual.error_gain) refuse("error_gain", number_text(asked.error_gain));
}

OnlineLearner::OnlineLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop)
    : data_(share.rows()),
      options_(options),
      model_(beginning.saved ? std::move(beginning.model)
                             : start_dictionary(data_, options, std::move(beginning.model))),
      stop_(std::move(stop)),
      batch_(std::min(options.batch > 0 ? options.batch : kUsualBatch, data_.rows())),
      dictionary_(model_.W.transpose()) {
  if (!beginning.saved) return;
  const Matrix A = beginning.saved->array("code_products"), B = beginning.saved->array("data_products");
  const Index H = model_.latents(), D = model_.dimensions();
  if (A.size() == 0) return;
  if (A.rows() != H || A.cols() != H || B.rows() != H || B.cols() != D)
    throw Error("the checkpoint's code_products and data_products are not " + std::to_string(H) + " x " +
                std::to_string(H) + " and " + std::to_string(H) + " x " + std::to_string(D) +
                "; it is damaged or of another model");
  dictionary_.restore(A, B);
  batches_seen_ = beginning.saved->number("batches", 0);
}

std::vector<Index> OnlineLearner::order(int row) const {
  Random random = random_of_row(options_.seed, row);
  return shuffled_rows(data_, batch_, random);
}

/// The data points with these numbers; neighbours are read together.
void OnlineLearner::read_rows(std::span<const Index> rows, const Model& model, Batch& batch) const {
  const CentredRows read = centred_rows(data_, model, options_.inference.missing);
  const auto count = static_cast<Index>(rows.size());
  batch.X.resize(count, data_.cols());
  batch.observed.resize(0, 0);
  Matrix block, observed;
  for (Index at = 0, run = 1; at < count; at += run) {
    const Index first = rows[static_cast<std::size_t>(at)];
    for (run = 1; at + run < count && rows[static_cast<std::size_t>(at + run)] == first + run;) ++run;
    read(first, run, block, observed);
    batch.X.middleRows(at, run) = block;
    if (observed.size() == 0) continue;
    if (batch.observed.size() == 0) batch.observed = Matrix::Ones(count, data_.cols());
    batch.observed.middleRows(at, run) = observed;
  }
}

void OnlineLearner::code(std::span<const Index> rows, const Model& model, Batch& batch) const {
  const auto count = static_cast<Index>(rows.size());
  read_rows(rows, model, batch);
  const CentredRows part = [&batch](Index first, Index size, Matrix& block, Matrix& observed) {
    block = batch.X.middleRows(first, size);
    observed.resize(0, 0);
    if (batch.observed.size() > 0) observed = batch.observed.middleRows(first, size);
  };
  batch.coded =
      code_rows(make_coder(model, options_.inference), part, 0, count, model.latents(), options_.inference, stop_);
}

Evaluation OnlineLearner::begin(int row) {
  if (options_.inference.coding.coding == Coding::lasso)
    require_useful_lambda(model_, options_.inference, centred_rows(data_, model_, options_.inference.missing),
                          data_.rows());
  const std::vector<Index> rows = order(row);
  Batch batch;
  code(std::span(rows).first(static_cast<std::size_t>(batch_)), model_, batch);
  Tally tally(model_.latents(), options_.inference.coding.coding);
  tally.add(batch.coded);
  if (row == 0) tally.moments().describe(model_);
  return tally.evaluation({});
}

Evaluation OnlineLearner::iterate(int row) {
  const std::vector<Index> rows = order(row);
  const auto total = static_cast<Index>(rows.size());
  const Index batches = std::max<Index>(1, total / batch_);
  OnlineDictionary next = dictionary_;
  Model model = model_;
  Tally tally(model.latents(), options_.inference.coding.coding);
  Rescues rescues;
  Batch batch;
  double seen = batches_seen_;
  for (Index i = 0; i < batches; ++i) {
    if (stop_ && stop_()) throw Interrupted("interrupted");
    model.W = next.atoms().transpose();
    const Index first = total * i / batches, end = total * (i + 1) / batches;
    const auto part = std::span(rows).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
    code(part, model, batch);
    const bool look = seen > 0 && (i == 0 || std::fmod(seen, kBatchesBetweenLooks) == 0);
    const Index replaced = look ? replace_useless(next, batch.X, batch.coded.squared_error) : 0;
    if (replaced > 0) {  // coded with the new atoms, the same batch begins to learn them: also if it is the last one
      rescues.replaced_atoms += replaced;
      model.W = next.atoms().transpose();
      code(part, model, batch);
    }
    tally.add(batch.coded);
    ++seen;
    fill_in(batch.coded, next.atoms(), batch.observed, batch.X);
    const double decay = options_.dictionary.decay;
    next.add(batch.X, batch.coded.codes, decay > 0 ? decay : online_decay(seen, batch_));
    next.update();
  }
  model.W = next.atoms().transpose();
  tally.moments().describe(model);
  model_ = std::move(model);
  dictionary_ = std::move(next);
  batches_seen_ = seen;
  return tally.evaluation(rescues);
}

bool OnlineLearner::converged(const std::vector<IterationReport>& history, double tolerance) const {
  if (tolerance <= 0 || history.size() < 3) return false;  // row 0 is of one batch
  const double last = history.back().free_energy, before = history[history.size() - 2].free_energy;
  return before - last < tolerance * std::abs(last);
}

void OnlineLearner::save(MethodState& state) const {
  state.numbers["batches"] = batches_seen_;
  state.arrays["code_products"] = dictionary_.A();
  state.arrays["data_products"] = dictionary_.B();
}

}  // namespace gsc
