# With GSC_CUDA: nvcc and NVIDIA's libraries, where they are found. GSC_HAS_CUDA says whether.
set(GSC_HAS_CUDA OFF)
if(GSC_CUDA)
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(GSC_NVCC nvcc HINTS /usr/local/cuda/bin /opt/cuda/bin)
    if(GSC_NVCC)
      set(CMAKE_CUDA_COMPILER ${GSC_NVCC})
    endif()
  endif()
  # Machine code for the generations of A100 and H100, and text that drivers compile for later ones.
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90)  # the least of them is what cli/devices.cpp tells
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit 12 REQUIRED)
    set(GSC_HAS_CUDA ON)
  else()
    message(STATUS "GSC_CUDA is on, but nvcc was not found: building without GPUs. Install NVIDIA's CUDA toolkit 12 or "
      "later, or set CUDACXX to its nvcc (docs/gpu.md)")
  endif()
endif()
