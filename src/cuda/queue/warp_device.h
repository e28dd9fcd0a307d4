#pragma once
// The words of warp.h on a GPU.

#include <cuda_runtime.h>

#define GSC_KERNEL __device__ __forceinline__
#define GSC_BOTH __host__ __device__
#define GSC_UNROLL _Pragma("unroll")
#define GSC_UNROLL2 _Pragma("unroll 2")
#define GSC_UNROLL4 _Pragma("unroll 4")
#define GSC_UNROLL8 _Pragma("unroll 8")

namespace gsc::cuda {

template <class T>
using Lanes = T;

inline constexpr unsigned kAll = 0xffffffffU;

GSC_KERNEL int lane_index() { return static_cast<int>(threadIdx.x % kLanes); }
GSC_KERNEL void sync() { __syncwarp(); }

template <class T>
GSC_KERNEL T select(bool condition, T yes, T no) {
  return condition ? yes : no;
}
template <class T>
GSC_KERNEL T shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(kAll, value, mask);
}
template <class T>
GSC_KERNEL T broadcast(T value, int lane) {
  return __shfl_sync(kAll, value, lane);
}
/// After a butterfly all lanes have the same.
template <class T>
GSC_KERNEL T first(T value) {
  return value;
}
GSC_KERNEL bool any(bool condition) { return __any_sync(kAll, condition) != 0; }
GSC_KERNEL std::uint32_t ballot(bool condition) { return __ballot_sync(kAll, condition); }
GSC_KERNEL int lowest_bit(std::uint32_t bits) { return __ffs(static_cast<int>(bits)) - 1; }
/// As warp_max: floats compare as integers once the other bits of negative ones are turned round.
GSC_KERNEL float warp_largest(float value) {
  const int bits = __float_as_int(value), key = bits ^ ((bits >> 31) & 0x7fffffff);
  const int best = __reduce_max_sync(kAll, key);
  return __int_as_float(best ^ ((best >> 31) & 0x7fffffff));
}
GSC_KERNEL int warp_min(int value) { return __reduce_min_sync(kAll, value); }

/// Memory at base[index], where the mask allows it; elsewhere `otherwise`, or nothing is stored.
template <class T>
GSC_KERNEL T load(const T* base, long index) {
  return base[index];
}
template <class T>
GSC_KERNEL T load(const T* base, long index, bool mask, T otherwise) {
  return mask ? base[index] : otherwise;
}
/// Four numbers from an index on that is a multiple of four.
GSC_KERNEL void load4(const float* base, int index, float* values) {
  const float4 four = *reinterpret_cast<const float4*>(base + index);
  values[0] = four.x;
  values[1] = four.y;
  values[2] = four.z;
  values[3] = four.w;
}
template <class T>
GSC_KERNEL void store(T* base, long index, T value) {
  base[index] = value;
}
template <class T>
GSC_KERNEL void store(T* base, long index, T value, bool mask) {
  if (mask) base[index] = value;
}
GSC_KERNEL void atomic_or(std::uint32_t* base, long index, std::uint32_t bits, bool mask) {
  if (mask) atomicOr(base + index, bits);
}
GSC_KERNEL std::uint32_t bit(int index) { return 1U << index; }
/// Of integers, whose order does not matter either.
GSC_KERNEL void atomic_add(std::int64_t* base, long index, std::int64_t value, bool mask) {
  if (mask) atomicAdd(reinterpret_cast<unsigned long long*>(base + index), static_cast<unsigned long long>(value));
}
GSC_KERNEL int count_bits(std::uint32_t bits) { return __popc(bits); }
/// How many of the bits are of lanes before this one.
GSC_KERNEL int count_before(std::uint32_t bits) { return __popc(bits & ((1U << lane_index()) - 1U)); }
/// The bits of a float that is not negative: they order as it does.
GSC_KERNEL std::uint32_t bits_of(float value) { return __float_as_uint(value); }
GSC_KERNEL float float_of(std::uint32_t bits) { return __uint_as_float(bits); }
GSC_KERNEL std::int64_t nearest_integer(float value) { return __float2ll_rn(value); }

template <class To, class From>
GSC_KERNEL To convert(From value) {
  return static_cast<To>(value);
}
template <class T>
GSC_KERNEL T larger(T one, T other) {
  return one > other ? one : other;
}
template <class T>
GSC_KERNEL T smaller(T one, T other) {
  return one < other ? one : other;
}
template <class T>
GSC_KERNEL T multiply_add(T a, T b, T c) {
  return fma(a, b, c);
}
template <>
GSC_KERNEL float larger(float one, float other) {
  return fmaxf(one, other);
}
template <>
GSC_KERNEL float multiply_add(float a, float b, float c) {
  return fmaf(a, b, c);
}
// To 2 units in the last place: the special function unit's own.
GSC_KERNEL float inverse_root(float x) { return rsqrtf(x); }
GSC_KERNEL double inverse_root(double x) { return rsqrt(x); }
GSC_KERNEL float power_of_two(float x) { return exp2f(x); }  // with -ftz=true one instruction
GSC_KERNEL float quotient(float x, float y) { return __fdividef(x, y); }
GSC_KERNEL double exponential(double x) { return exp(x); }
/// To 1 unit in the last place.
GSC_KERNEL float logarithm(float x) { return logf(x); }
GSC_KERNEL double logarithm(double x) { return log(x); }
/// Between 1/2 and 2 wrong by up to 4e-7, elsewhere by up to 3 units in the last place: for what only ranks.
GSC_KERNEL float rough_logarithm(float x) { return __logf(x); }

/// The kernel of a body, `Body::kWarps` warps in a block; at least so many blocks shall fit on a multiprocessor.
template <class Body>
__global__ void __launch_bounds__(Body::kWarps* kLanes, Body::kBlocks)
    run_warps(const __grid_constant__ Body body, long warps, unsigned scratch_bytes) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();  // the next kernel may get ready, and do as this one:
  cudaGridDependencySynchronize();            // wait for all that the one before has written
#endif
  extern __shared__ __align__(16) unsigned char shared_memory[];
  const int in_block = static_cast<int>(threadIdx.x) / kLanes;
  const long index = static_cast<long>(blockIdx.x) * Body::kWarps + in_block;
  if (index < warps) body(Warp{index, warps, shared_memory + static_cast<size_t>(in_block) * scratch_bytes});
}

}  // namespace gsc::cuda
