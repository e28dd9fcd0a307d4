#include "inference/statistics_fields.h"

namespace gsc {

Statistics::Statistics(const Model& model) {
  const Index D = model.dimensions(), H = model.latents();
  s = Vector::Zero(H);
  m = Vector::Zero(H);
  YZ = Matrix::Zero(D, H);
  ZZ = Matrix::Zero(H, H);
  YY = Matrix::Zero(D, model.noise.type() == NoiseType::full ? D : 1);
  if (model.slab.type() == SlabType::full) {
    lambda = Vector::Zero(H);
    T = Matrix::Zero(H, H);
    SS = Matrix::Zero(H, H);
  }
}

Statistics& Statistics::operator+=(const Statistics& other) {
  for_each_statistic([&](auto member, Symmetric) { this->*member += other.*member; });
  return *this;
}

}  // namespace gsc
