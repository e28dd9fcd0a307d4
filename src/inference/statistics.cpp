#include "inference/statistics_fields.h"

namespace gsc {

Statistics::Statistics(const Model& model) {
  const Index D = model.dimensions(), H = model.latents();
  s = Vector::Zero(H);
  m = Vector::Zero(H);
  YZ = Matrix::Zero(D, H);
  ZZ = Matrix::Zero(H, H);
  YY = Matrix::Zero(D, model.noise.type() == NoiseType::full ? D : 1);
  y = Vector::Zero(model.intercept.size());
  if (model.slab.type() == SlabType::full) {
    lambda = Vector::Zero(H);
    T = Matrix::Zero(H, H);
    SS = Matrix::Zero(H, H);
  }
}

Statistics& Statistics::operator+=(const Statistics& other) {
  for_each_statistic([&]<class Field>(Field Statistics::*member, Symmetric) {
    if constexpr (!std::is_arithmetic_v<Field>)
      if ((other.*member).size() == 0) return;  // a sum that was not gathered
    this->*member += other.*member;
  });
  return *this;
}

void mirror(Statistics& statistics) {
  for_each_statistic([&]<class Field>(Field Statistics::*member, Symmetric symmetric) {
    if constexpr (std::is_same_v<Field, Matrix>) {
      Matrix& field = statistics.*member;
      if (symmetric == Symmetric::square && field.rows() == field.cols())
        field = Matrix(field.selfadjointView<Eigen::Upper>());
    }
  });
}

void blend(Statistics& running, double keep, const Statistics& fresh, double weight) {
  for_each_statistic([&]<class Field>(Field Statistics::*member, Symmetric) {
    if constexpr (!std::is_integral_v<Field>) running.*member = keep * running.*member + weight * fresh.*member;
  });
}

}  // namespace gsc
