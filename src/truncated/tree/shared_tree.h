#pragma once
// The part of the subset tree that data points with the same candidates have in common (appendix C of the paper).
// For every node, in the order in which SubsetTree visits them:
//
//   r/sqrt(2), r^2, a_j + log r      and, if the node has children,   u_k = J_jk / J_jj,  k < j       (J reduced)

#include <cstdint>
#include <vector>

#include "truncated/tree/prepared_model.h"

namespace gsc {

template <class T>
class SharedTree {
 public:
  /// latents: by position, as in SubsetTree.
  void build(const PreparedModel& model, const std::uint16_t* latents);

  const T* stream() const { return stream_.data(); }
  /// The same numbers for the chain of states that take the candidates in their order.
  const T* chain() const { return chain_.data(); }
  bool clamped() const { return clamped_; }

 private:
  void add_children(int remaining, int depth, const double* J, double* scratch);
  double add_node(std::vector<T>& stream, double pivot, double offset);

  std::vector<T> stream_, chain_;
  std::vector<double> offsets_, scratch_;
  bool clamped_ = false;
};

}  // namespace gsc
