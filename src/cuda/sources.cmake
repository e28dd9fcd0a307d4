# The files of the GPU's engine: those with kernels, which nvcc compiles for the GPU (C++17, no Eigen) and the C++
# compiler on the emulation for the tests, and the others of both. What only a GPU or only the emulation has is named
# where these are built.
set(cuda_kernels
  cholesky.cpp device_model.cpp device_picture.cpp device_sums.cpp expectation.cpp expectation_memory.cpp expectation_output.cpp
  expectation_own.cpp group_pass.cpp maximisation.cpp mosaic.cpp)
set(cuda_engine
  auto_engine.cpp device_choice.cpp device_engine.cpp device_learning.cpp
  device_pass.cpp device_patches.cpp host_model.cpp)
list(TRANSFORM cuda_kernels PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
list(TRANSFORM cuda_engine PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
