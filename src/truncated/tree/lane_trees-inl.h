// The trees behind one interface: gather a data point's candidates into a lane, run, hand out a lane's moments.
//
//   DiagonalSlabLanes    every lane its own candidates
//   SharedSlabLanes      all lanes, and many batches, the same candidates
//   FullSlabLanes        every lane its own candidates, full slab

#if defined(GSC_LANE_TREES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSC_LANE_TREES_INL_H_
#undef GSC_LANE_TREES_INL_H_
#else
#define GSC_LANE_TREES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "truncated/tree/full_slab_tree-inl.h"
#include "truncated/tree/shared_tree.h"
#include "truncated/tree/subset_tree-inl.h"
#include "truncated/tree/tree_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The matrix of a tree's element type.
template <class T>
const T* ModelJ(const PreparedModel& model) {
  if constexpr (sizeof(T) == 8)
    return model.J.data();
  else
    return model.J_single.data();
}

/// Adds to entry (i, j) of a matrix of which only i <= j is kept.
HWY_INLINE void AddSymmetric(Matrix& sums, Index i, Index j, double value) {
  sums(std::min(i, j), std::max(i, j)) += value;
}

/// A lane of a vector in memory.
template <class D>
HWY_INLINE double GetLane(const hn::Vec<D>& vector, size_t lane) {
  return static_cast<double>(reinterpret_cast<const hn::TFromD<D>*>(&vector)[lane]);
}

/// What the two diagonal-slab trees share: eta, and the moments of each lane.
template <class D>
class SlabMoments {
 public:
  using V = hn::Vec<D>;
  using T = hn::TFromD<D>;

  void Normalize(V factor) {
    for (int i = 0; i < Triangle(size_, 0); ++i) Q_[i] = hn::Mul(Q_[i], factor);
    for (int p = 0; p < size_; ++p) {
      e_[p] = hn::Mul(e_[p], factor);
      s_[p] = hn::Mul(s_[p], factor);
    }
  }

  double Mean(int position, size_t lane) const { return GetLane<D>(e_[position], lane); }
  double Probability(int position, size_t lane) const { return GetLane<D>(s_[position], lane); }
  double SecondMoment(int position, size_t lane) const { return GetLane<D>(Q_[Triangle(position, position)], lane); }
  /// <(s.z)_p (s.z)_q>, q <= p
  double Product(int p, int q, size_t lane) const { return GetLane<D>(Q_[Triangle(p, q)], lane); }

  V max_x;
  hn::Mask<D> clamped;

 protected:
  static Index BaseVectors(int candidates) { return Triangle(candidates, 0) + 4 * candidates; }

  SlabMoments(const PreparedModel& model, V* buffer) : model_(model), size_(model.candidates) {
    Q_ = buffer;
    eta_ = Q_ + Triangle(size_, 0);
    e_ = eta_ + size_;
    s_ = e_ + size_;
    chain_eta_ = s_ + size_;
  }

  const PreparedModel& model_;
  int size_;
  V *Q_, *eta_, *e_, *s_, *chain_eta_;
};

template <class D>
class DiagonalSlabLanes : public SlabMoments<D> {
  using Base = SlabMoments<D>;
  using Base::chain_eta_;
  using Base::eta_;
  using Base::model_;
  using Base::size_;

 public:
  using V = hn::Vec<D>;
  using T = hn::TFromD<D>;

  static Index BufferVectors(int candidates, int max_active) {
    return Base::BaseVectors(candidates) + 2 * Triangle(candidates, 0) + candidates +
           SubsetTree<D>::ScratchVectors(candidates, max_active);
  }

  DiagonalSlabLanes(const PreparedModel& model, V* buffer) : Base(model, buffer) {
    J_ = buffer + Base::BaseVectors(size_);
    chain_J_ = J_ + Triangle(size_, 0);
    a_ = chain_J_ + Triangle(size_, 0);
    scratch_ = a_ + size_;
  }

  /// latents: by position. eta: the data point's row.
  void Gather(size_t lane, const std::uint16_t* latents, const double* eta) {
    const size_t lanes = hn::Lanes(D());
    T* J = reinterpret_cast<T*>(J_) + lane;
    for (int p = 0; p < size_; ++p) {
      const T* row = ModelJ<T>(model_) + latents[p] * model_.padded;
      for (int q = 0; q <= p; ++q, J += lanes) *J = row[latents[q]];
      reinterpret_cast<T*>(eta_ + p)[lane] = static_cast<T>(eta[latents[p]]);
      reinterpret_cast<T*>(a_ + p)[lane] = static_cast<T>(model_.a[latents[p]]);
    }
  }

  /// A data point with a diagonal of J, eta and a of its own, which are given in the falling order of positions.
  void GatherOwn(size_t lane, const std::uint16_t* latents, const double* diagonal, const double* eta,
                 const double* a) {
    const size_t lanes = hn::Lanes(D());
    T* J = reinterpret_cast<T*>(J_) + lane;
    for (int p = 0; p < size_; ++p) {
      const T* row = ModelJ<T>(model_) + latents[p] * model_.padded;
      for (int q = 0; q < p; ++q, J += lanes) *J = row[latents[q]];
      const int from = size_ - 1 - p;
      *J = static_cast<T>(diagonal[from]);
      J += lanes;
      reinterpret_cast<T*>(eta_ + p)[lane] = static_cast<T>(eta[from]);
      reinterpret_cast<T*>(a_ + p)[lane] = static_cast<T>(a[from]);
    }
  }

  /// A data point with a system all of its own, by position: the lower triangle of J by rows, eta and a.
  void GatherSystem(size_t lane, const std::uint16_t*, const double* system, const double* eta, const double* a) {
    const size_t lanes = hn::Lanes(D());
    T* J = reinterpret_cast<T*>(J_) + lane;
    for (int i = 0; i < Triangle(size_, 0); ++i, J += lanes) *J = static_cast<T>(system[i]);
    for (int p = 0; p < size_; ++p) {
      reinterpret_cast<T*>(eta_ + p)[lane] = static_cast<T>(eta[p]);
      reinterpret_cast<T*>(a_ + p)[lane] = static_cast<T>(a[p]);
    }
  }

  /// The best log weight (up to the pivots' factor) among the states that take the candidates in their order.
  V BestOfChain() {
    const D d;
    V x = hn::Zero(d), best = x;
    const V *J = J_, *eta = eta_;
    for (int step = 0; step < model_.max_active; ++step) {
      const int j = size_ - 1 - step;
      const V r = ReciprocalSqrt(d, hn::Max(J[Triangle(j, j)], hn::Set(d, SubsetTree<D>::kSmallestPivot)));
      const V f = hn::Mul(eta[j], r);
      x = hn::MulAdd(hn::Mul(f, hn::Set(d, T{0.5})), f, hn::Add(x, a_[j]));
      best = hn::Max(best, x);
      if (step + 1 == model_.max_active) break;
      for (int k = 0; k < j; ++k) {
        chain_eta_[k] = hn::NegMulAdd(hn::Mul(J[Triangle(j, k)], r), f, eta[k]);
        const V v = hn::Mul(J[Triangle(j, k)], hn::Mul(r, r));
        for (int l = 0; l <= k; ++l) chain_J_[Triangle(k, l)] = hn::NegMulAdd(v, J[Triangle(j, l)], J[Triangle(k, l)]);
      }
      J = chain_J_;
      eta = chain_eta_;
    }
    return best;
  }

  V Run(V x) {
    SubsetTree<D> tree(a_, scratch_);
    const V mass = tree.Run(size_, model_.max_active, {J_, eta_}, x, {this->Q_, this->e_, this->s_});
    this->max_x = tree.max_x;
    this->clamped = hn::Lt(tree.min_pivot, hn::Set(D(), SubsetTree<D>::kSmallestPivot));
    return mass;
  }

  /// Adds a lane's products to the sums.
  void AddProducts(size_t lane, const std::uint16_t* latents, BlockSums& sums) const {
    const size_t lanes = hn::Lanes(D());
    const T* Q = reinterpret_cast<const T*>(this->Q_) + lane;
    for (int p = 0; p < size_; ++p)
      for (int q = 0; q <= p; ++q, Q += lanes) AddSymmetric(sums.ZZ, latents[p], latents[q], static_cast<double>(*Q));
  }

 private:
  V *J_, *chain_J_, *a_, *scratch_;
};

template <class D>
class SharedSlabLanes : public SlabMoments<D> {
  using Base = SlabMoments<D>;
  using Base::chain_eta_;
  using Base::eta_;
  using Base::model_;
  using Base::size_;

 public:
  using V = hn::Vec<D>;
  using T = hn::TFromD<D>;
  using Tree = SubsetTree<D, true>;

  static Index BufferVectors(int candidates, int max_active) {
    return Base::BaseVectors(candidates) + Tree::ScratchVectors(candidates, max_active);
  }

  SharedSlabLanes(const PreparedModel& model, V* buffer)
      : Base(model, buffer), scratch_(buffer + Base::BaseVectors(size_)) {}

  /// Before the first batch of a cluster.
  void UseCandidates(const std::uint16_t* latents) { shared_.build(model_, latents); }

  void Gather(size_t lane, const std::uint16_t* latents, const double* eta) {
    for (int p = 0; p < size_; ++p) reinterpret_cast<T*>(eta_ + p)[lane] = static_cast<T>(eta[latents[p]]);
  }

  V BestOfChain() {
    const D d;
    V x = hn::Zero(d), best = x;
    const T* numbers = shared_.chain();
    const V* eta = eta_;
    for (int j = size_ - 1; j >= size_ - model_.max_active; --j) {
      const V eta_j = eta[j], f = hn::Mul(eta_j, hn::Set(d, numbers[0]));
      x = hn::MulAdd(f, f, hn::Add(x, hn::Set(d, numbers[2])));
      best = hn::Max(best, x);
      numbers += 3;
      for (int k = 0; k < j; ++k) chain_eta_[k] = hn::NegMulAdd(hn::Set(d, *numbers++), eta_j, eta[k]);
      eta = chain_eta_;
    }
    return best;
  }

  V Run(V x) {
    Tree tree(nullptr, scratch_, shared_.stream());
    const V mass = tree.Run(size_, model_.max_active, {nullptr, eta_}, x, {this->Q_, this->e_, this->s_});
    this->max_x = tree.max_x;
    this->clamped = hn::FirstN(D(), shared_.clamped() ? hn::Lanes(D()) : 0);
    return mass;
  }

  /// Adds the products of all lanes at once, when called for lane 0; idle lanes have been normalised to zero.
  void AddProducts(size_t lane, const std::uint16_t* latents, BlockSums& sums) const {
    if (lane != 0) return;
    for (int p = 0; p < size_; ++p)
      for (int q = 0; q <= p; ++q) AddSymmetric(sums.ZZ, latents[p], latents[q], Sum(this->Q_[Triangle(p, q)]));
  }

 private:
  static double Sum(V lanes) { return static_cast<double>(hn::GetLane(hn::SumOfLanes(D(), lanes))); }

  V* scratch_;
  SharedTree<T> shared_;
};

template <class D>
class FullSlabLanes {
 public:
  using V = hn::Vec<D>;
  using T = hn::TFromD<D>;
  using Tree = FullSlabTree<D>;

  static Index BufferVectors(int candidates, int max_active) {
    return 9 * Triangle(candidates, 0) + 6 * candidates + Tree::ScratchVectors(candidates, max_active);
  }

  FullSlabLanes(const PreparedModel& model, V* buffer) : model_(model), size_(model.candidates) {
    const int triangle = Triangle(size_, 0);
    using Block = typename Tree::Block;
    using Pair = typename Tree::Pair;
    system_.B = reinterpret_cast<Block*>(buffer);
    adjoints_.B = system_.B + triangle;
    system_.v = reinterpret_cast<Pair*>(adjoints_.B + triangle);
    adjoints_.v = system_.v + size_;
    logit_ = reinterpret_cast<V*>(adjoints_.v + size_);
    adjoints_.s = logit_ + size_;
    adjoints_.ss = adjoints_.s + size_;
    scratch_ = adjoints_.ss + triangle;
  }

  void Gather(size_t lane, const std::uint16_t* latents, const double* eta) {
    Fill(
        lane, latents, [&](int p, int q) { return model_.gram(latents[p], latents[q]); },
        [&](int p) { return eta[latents[p]] - model_.eta_offset[latents[p]]; });
  }

  /// A data point with G^ and W'Py of its own, by position: the lower triangle by rows, in the scaled units.
  void GatherSystem(size_t lane, const std::uint16_t* latents, const double* gram, const double* projected,
                    const double*) {
    Fill(
        lane, latents, [&](int p, int q) { return gram[Triangle(p, q)]; }, [&](int p) { return projected[p]; });
  }

  /// No estimate: the caller starts from the singletons and corrects the reference if a state turns out far better.
  V BestOfChain() { return hn::Zero(D()); }

  V Run(V x) {
    Tree tree(logit_, scratch_);
    const V mass = tree.Run(size_, model_.max_active, system_, x, adjoints_);
    max_x = tree.max_x;
    clamped = tree.clamped;
    return mass;
  }

  void Normalize(V factor) {
    for (int p = 0; p < size_; ++p) {
      for (int q = 0; q <= p; ++q) {
        for (auto& row : adjoints_.B[Triangle(p, q)].e)
          for (V& entry : row) entry = hn::Mul(entry, factor);
        if (q < p) adjoints_.ss[Triangle(p, q)] = hn::Mul(adjoints_.ss[Triangle(p, q)], factor);
      }
      for (auto& row : adjoints_.v[p].e) row[0] = hn::Mul(row[0], factor);
      adjoints_.s[p] = hn::Mul(adjoints_.s[p], factor);
    }
  }

  double Mean(int position, size_t lane) const { return Get(adjoints_.v[position].e[1][0], lane); }
  double Probability(int position, size_t lane) const { return Get(adjoints_.s[position], lane); }
  double SecondMoment(int position, size_t lane) const {
    return 2 * Get(adjoints_.B[Triangle(position, position)].e[1][1], lane);
  }
  double Product(int p, int q, size_t lane) const { return 2 * Get(adjoints_.B[Triangle(p, q)].e[1][1], lane); }

  void AddProducts(size_t lane, const std::uint16_t* latents, BlockSums& sums) const {
    for (int p = 0; p < size_; ++p) {
      const Index i = latents[p];
      for (int q = 0; q <= p; ++q) {
        const Index j = latents[q];
        const auto& block = adjoints_.B[Triangle(p, q)];
        AddSymmetric(sums.ZZ, i, j, 2 * Get(block.e[1][1], lane));
        AddSymmetric(sums.T, i, j, 2 * Get(block.e[0][0], lane));
        if (q < p) AddSymmetric(sums.SS, i, j, Get(adjoints_.ss[Triangle(p, q)], lane));
      }
      sums.lambda[i] += Get(adjoints_.v[p].e[0][0], lane);
    }
  }

  V max_x;
  hn::Mask<D> clamped;

 private:
  template <class Gram, class Projected>
  void Fill(size_t lane, const std::uint16_t* latents, const Gram& gram, const Projected& projected) {
    for (int p = 0; p < size_; ++p) {
      const Index i = latents[p];
      for (int q = 0; q <= p; ++q) {
        auto& block = system_.B[Triangle(p, q)];
        Put(block.e[0][0], lane, model_.slab(i, latents[q]));
        Put(block.e[0][1], lane, p == q ? -1 : 0);
        Put(block.e[1][0], lane, p == q ? -1 : 0);
        Put(block.e[1][1], lane, -gram(p, q));
      }
      Put(system_.v[p].e[0][0], lane, model_.slab_mean[i]);
      Put(system_.v[p].e[1][0], lane, projected(p));
      Put(logit_[p], lane, model_.logit_pi[i]);
    }
  }

  static double Get(const V& vector, size_t lane) { return GetLane<D>(vector, lane); }
  static void Put(V& vector, size_t lane, double value) { reinterpret_cast<T*>(&vector)[lane] = static_cast<T>(value); }

  const PreparedModel& model_;
  int size_;
  typename Tree::System system_;
  typename Tree::Adjoints adjoints_;
  V *logit_, *scratch_;
};

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#endif
