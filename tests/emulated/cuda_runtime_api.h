#pragma once
// What src/cuda/devices.cpp takes of NVIDIA's header, for the program on the emulation: one GPU, which is none.

#include <cstddef>

#define CUDART_VERSION 0

enum cudaError_t { cudaSuccess, cudaErrorNoDevice };

struct cudaDeviceProp {
  const char* name;
  int major, minor;
  std::size_t totalGlobalMem;
};

inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {"emulated", 9, 0, std::size_t{1} << 33U};
  return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = 0;
  return cudaSuccess;
}
inline const char* cudaGetErrorString(cudaError_t) { return ""; }
