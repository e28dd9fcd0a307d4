#include "dictionary/lasso_coder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dictionary/feature_sign.h"
#include "dictionary/lars.h"
#include "dictionary/matching_pursuit.h"
#include "math/blas.h"
#include "math/number_text.h"
#include "math/numeric_scope.h"

namespace gsc {
namespace {

constexpr double kUsualLambda = 1.2, kMostUsualLambda = 0.3;

/// What all threads share.
struct Lasso {
  Matrix W, atoms;  // D x H, and transposed
  Matrix gram;
  double lambda = 0;           // 0: of each data point
  double error_per_entry = 0;  // bounded: squared
  Index most;                  // atoms
};

/// The lambda and the bound of one data point.
struct Wanted {
  double lambda, squared_error;
};

class LarsSearch {
 public:
  explicit LarsSearch(Index atoms) : lars_(atoms) {}
  void solve(const GramRows& gram, const double* correlations, double power, Wanted wanted, Index most, const Code&) {
    lars_.solve(gram, correlations, power, {wanted.lambda, wanted.squared_error, most});
  }
  double lambda(Wanted) const { return lars_.lambda(); }
  const Lars& found() const { return lars_; }

 private:
  Lars lars_;
};

class SignSearch {
 public:
  explicit SignSearch(Index atoms) : search_(atoms) {}
  void solve(const GramRows& gram, const double* correlations, double, Wanted wanted, Index, const Code& start) {
    atoms_.assign(start.latents.begin(), start.latents.end());
    search_.start(atoms_.data(), start.values.data(), static_cast<Index>(atoms_.size()));
    search_.solve(gram, correlations, wanted.lambda);
  }
  double lambda(Wanted wanted) const { return wanted.lambda; }
  const FeatureSign& found() const { return search_; }

 private:
  FeatureSign search_;
  std::vector<Index> atoms_;
};

template <class Search>
class LassoCoder final : public Coder {
 public:
  explicit LassoCoder(std::shared_ptr<const Lasso> lasso)
      : lasso_(std::move(lasso)), search_(lasso_->W.cols()), whole_(lasso_->gram) {}

  void code(const Matrix& X, const Matrix& observed, std::span<Code> codes) override {
    const auto rows = static_cast<Index>(codes.size());
    correlations_.resize(rows, lasso_->W.cols());
    product(rows, X, lasso_->W, correlations_);
    for (Index n = 0; n < rows; ++n) {
      const double power = X.row(n).squaredNorm();
      const double entries = observed.size() > 0 ? observed.row(n).sum() : static_cast<double>(X.cols());
      if (entries < static_cast<double>(X.cols())) {
        observed_atoms_ = lasso_->atoms * observed.row(n).asDiagonal();
        solve(ObservedGram(observed_atoms_), n, power, entries, codes[static_cast<std::size_t>(n)]);
      } else {
        solve(whole_, n, power, entries, codes[static_cast<std::size_t>(n)]);
      }
    }
  }

 private:
  void solve(const GramRows& gram, Index n, double power, double entries, Code& code) {
    const double* correlations = correlations_.row(n).data();
    const bool bounded = lasso_->error_per_entry > 0;
    const double part = entries > 0 ? std::min(kUsualLambda / std::sqrt(entries), kMostUsualLambda) : 0;
    const Wanted wanted{bounded              ? 0
                        : lasso_->lambda > 0 ? lasso_->lambda
                                             : part * std::sqrt(power),
                        entries * lasso_->error_per_entry};
    if (power > 0) search_.solve(gram, correlations, power, wanted, lasso_->most, code);
    store(correlations, power, wanted, code);
  }

  /// In the order of the atoms. On the atoms in use G a = D'x - lambda sign(a), so
  /// |x - D a|^2 = |x|^2 - a'D'x - lambda |a|_1.
  void store(const double* correlations, double power, Wanted wanted, Code& code) {
    const auto& found = search_.found();
    const Index count = power > 0 ? found.size() : 0;
    order_.resize(static_cast<std::size_t>(count));
    std::iota(order_.begin(), order_.end(), Index{0});
    std::sort(order_.begin(), order_.end(), [&](Index i, Index j) { return found.atom(i) < found.atom(j); });
    code.latents.clear();
    code.values.clear();
    double length = 0, explained = 0;
    for (const Index i : order_) {
      if (found.value(i) == 0) continue;
      code.latents.push_back(static_cast<int>(found.atom(i)));
      code.values.push_back(found.value(i));
      length += std::abs(found.value(i));
      explained += found.value(i) * correlations[found.atom(i)];
    }
    const double penalty = count > 0 ? search_.lambda(wanted) * length : 0;
    code.penalty = lasso_->error_per_entry > 0 ? length : penalty;
    code.squared_error = std::max(power - explained - penalty, 0.0);
  }

  std::shared_ptr<const Lasso> lasso_;
  Search search_;
  WholeGram whole_;
  Matrix correlations_, observed_atoms_;
  std::vector<Index> order_;
};

}  // namespace

CoderMaker lasso_coder(const Model& model, const InferenceOptions& options, LassoSearch search) {
  auto shared = std::make_shared<Lasso>();
  shared->W = model.W;
  shared->atoms = model.W.transpose();
  shared->gram = product(shared->atoms, shared->W);
  shared->lambda = options.coding.lambda;
  shared->most = options.max_active > 0 ? options.max_active : std::numeric_limits<Index>::max();
  if (search == LassoSearch::lars && options.coding.coding == Coding::bounded) {
    shared->error_per_entry = options.coding.error_gain * options.coding.error_gain * model.noise.mean_variance();
    shared->most = most_atoms(model, options);
  }
  return [lasso = std::shared_ptr<const Lasso>(std::move(shared)), search]() -> std::unique_ptr<Coder> {
    if (search == LassoSearch::feature_sign) return std::make_unique<LassoCoder<SignSearch>>(lasso);
    return std::make_unique<LassoCoder<LarsSearch>>(lasso);
  };
}

namespace {

double largest_product(const Model& model, const CentredRows& rows, Index count) {
  constexpr Index kBlock = 1024;
  double largest = 0;
  Matrix block, observed;
  for (Index first = 0; first < count; first += kBlock) {
    rows(first, std::min(kBlock, count - first), block, observed);
    largest = std::max(largest, product(block, model.W).cwiseAbs().maxCoeff());
  }
  return largest;
}

}  // namespace

double largest_useful_lambda(const Model& model, const Data& data, Missing missing) {
  const NumericScope scope;
  return largest_product(model, centred_rows(data, model, missing), data.rows());
}

void require_useful_lambda(const Model& model, const InferenceOptions& options, const CentredRows& rows, Index count) {
  const double lambda = options.coding.lambda;
  if (lambda == 0 || count == 0) return;
  const double largest = largest_product(model, rows, count);
  if (lambda >= largest)
    throw UsageError("lambda is " + number_text(lambda) +
                     ", under which every code is zero: no atom has a larger product with any data point than " +
                     number_text(largest) + "; choose less than that, or 0 to have it follow from the data");
}

}  // namespace gsc
