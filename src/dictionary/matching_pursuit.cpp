#include "dictionary/matching_pursuit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/blas.h"

namespace gsc {
namespace {

/// What all threads share.
struct Dictionary {
  Matrix W, atoms;         // D x H, and transposed
  Matrix gram;             // H x H
  Vector squared_norms;    // H
  double error_per_entry;  // squared, at which a data point is explained; negative: never
  Index most;              // atoms
};

/// Atoms less distinct than this from those already chosen add nothing but rounding: part of their squared norm.
constexpr double kDependent = 1e-10;

class Omp final : public Coder {
 public:
  explicit Omp(std::shared_ptr<const Dictionary> dictionary)
      : dictionary_(std::move(dictionary)),
        U_(dictionary_->most, dictionary_->W.cols()),
        L_(dictionary_->most, dictionary_->most),
        projections_(dictionary_->most) {}

  void code(const Matrix& X, const Matrix& observed, std::span<Code> codes) override {
    const auto rows = static_cast<Index>(codes.size());
    scores_.resize(rows, dictionary_->W.cols());
    product(rows, X, dictionary_->W, scores_);
    for (Index n = 0; n < rows; ++n) {
      Code& code = codes[static_cast<std::size_t>(n)];
      const double power = X.row(n).squaredNorm();
      if (observed.size() == 0 || observed.row(n).sum() == static_cast<double>(X.cols()))
        pursue(scores_.row(n).data(), power, nullptr, code);
      else
        pursue(scores_.row(n).data(), power, observed.row(n).data(), code);
    }
  }

 private:
  /// `scores` is D'x and becomes D'r; `power` is |x|^2.
  void pursue(double* scores, double power, const double* observed, Code& code) {
    const Dictionary& all = *dictionary_;
    const Index D = all.W.rows(), H = all.W.cols();
    if (observed != nullptr) {
      mask_ = Eigen::Map<const Vector>(observed, D);
      masked_norms_ = all.atoms.cwiseAbs2() * mask_;
    }
    const Vector& squared_norms = observed != nullptr ? masked_norms_ : all.squared_norms;
    const double entries = observed != nullptr ? mask_.sum() : static_cast<double>(D);
    const double bound = std::max(entries * all.error_per_entry, kRounding * power);
    code.latents.clear();
    double error = power;
    Index count = 0;
    for (; count < all.most && error > bound; ++count) {
      const Index best = most_alike(scores, squared_norms);
      if (best < 0) break;
      double* u = U_.row(count).data();
      gram_row(best, observed, u);
      double distinct = squared_norms[best];
      for (Index j = 0; j < count; ++j) {
        L_(count, j) = U_(j, best);
        distinct -= L_(count, j) * L_(count, j);
      }
      if (distinct < kDependent * squared_norms[best]) break;
      L_(count, count) = std::sqrt(distinct);
      subtract_combination(count, U_, L_.row(count).data(), u);
      const double scale = 1 / L_(count, count), projection = scores[best] * scale;
      for (Index h = 0; h < H; ++h) {
        u[h] *= scale;
        scores[h] -= projection * u[h];
      }
      projections_[count] = projection;
      error -= projection * projection;
      code.latents.push_back(static_cast<int>(best));
    }
    solve(count, code);
    code.squared_error = std::max(error, 0.0);
  }

  /// The atom with the largest a_h^2 / |d_h|^2; -1 if none resembles the residual at all.
  static Index most_alike(const double* scores, const Vector& squared_norms) {
    double largest = 0;
    Index best = -1;
    for (Index h = 0; h < squared_norms.size(); ++h) {
      const double score = scores[h] * scores[h];
      if (score > largest * squared_norms[h]) {
        largest = score / squared_norms[h];
        best = h;
      }
    }
    return best;
  }

  void gram_row(Index atom, const double* observed, double* row) {
    const Dictionary& all = *dictionary_;
    if (observed == nullptr) {
      std::copy_n(all.gram.row(atom).data(), all.gram.cols(), row);
      return;
    }
    masked_atom_ = -all.atoms.row(atom).transpose().cwiseProduct(mask_);
    std::fill_n(row, all.W.cols(), 0.0);
    subtract_combination(all.W.rows(), all.W, masked_atom_.data(), row);
  }

  /// L'z = b, and the atoms in ascending order.
  void solve(Index count, Code& code) {
    auto z = projections_.head(count);
    L_.topLeftCorner(count, count).triangularView<Eigen::Lower>().transpose().solveInPlace(z);
    order_.resize(static_cast<std::size_t>(count));
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(), [&](auto a, auto b) { return code.latents[a] < code.latents[b]; });
    chosen_ = code.latents;
    code.values.resize(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      code.latents[i] = chosen_[order_[i]];
      code.values[i] = z[static_cast<Index>(order_[i])];
    }
  }

  static constexpr double kRounding = 1e-24;  // of |x|^2: nothing is left

  std::shared_ptr<const Dictionary> dictionary_;
  Matrix scores_, U_, L_;
  Vector projections_, mask_, masked_norms_, masked_atom_;
  std::vector<std::size_t> order_;
  std::vector<int> chosen_;
};

}  // namespace

Index most_atoms(const Model& model, const InferenceOptions& options) {
  const Index asked = options.coding.atoms_per_point > 0 ? options.coding.atoms_per_point
                      : options.max_active > 0           ? options.max_active
                                                         : std::max<Index>(1, model.dimensions() / 2);
  return std::min({asked, model.latents(), model.dimensions()});
}

CoderMaker omp_coder(const Model& model, const InferenceOptions& options) {
  auto shared = std::make_shared<Dictionary>();
  shared->W = model.W;
  shared->atoms = model.W.transpose();
  shared->gram = product(shared->atoms, shared->W);
  shared->squared_norms = shared->gram.diagonal();
  const double gain = options.coding.error_gain;
  shared->error_per_entry = options.coding.atoms_per_point > 0 ? -1 : gain * gain * model.noise.mean_variance();
  shared->most = most_atoms(model, options);
  return
      [dictionary = std::shared_ptr<const Dictionary>(std::move(shared))] { return std::make_unique<Omp>(dictionary); };
}

}  // namespace gsc
