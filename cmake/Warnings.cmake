# One interface target with our warnings (errors in our own build); how to compile what is not hot; and, if asked for,
# the sanitizers, for everything.
add_library(gsc_warnings INTERFACE)
target_compile_options(gsc_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wconversion -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # Clang's also means double to long double, which is what the oracle of the tests is for.
  target_compile_options(gsc_warnings INTERFACE -Wdouble-promotion)
  # GCC 12 suspects std::string's own copying, as in "a" + std::string(100, '0').
  target_compile_options(gsc_warnings INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict)
endif()
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(gsc_warnings INTERFACE -Werror)
endif()
# Code that talks, draws and asks the library to work: compiled in two thirds of the time, as fast to a user.
# Precompiled headers bring their optimisation along, so these targets have a header of their own.
set(GSC_COLD $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release,RelWithDebInfo>>:-Og>)
if(GSC_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(GSC_SANITIZE)
  add_compile_options(-fsanitize=${GSC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${GSC_SANITIZE})
endif()
