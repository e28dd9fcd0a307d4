#include <gsc/inference.h>

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
  count += other.count;
  free_energy += other.free_energy;
  s += other.s;
  m += other.m;
  YZ += other.YZ;
  ZZ += other.ZZ;
  YY += other.YY;
  MM += other.MM;
  lambda += other.lambda;
  T += other.T;
  SS += other.SS;
  clamped_pivots += other.clamped_pivots;
  return *this;
}

}  // namespace gsc
