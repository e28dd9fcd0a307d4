# How our targets are compiled: the language, our warnings (errors in our own build), and what is not hot.
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

# gsc_compiled(TARGETS...): as all of ours are, whatever a project around us has chosen. Without extensions, as these let
# the compiler contract a * b + c, and results have other bits then.
function(gsc_compiled)
  set_target_properties(${ARGN} PROPERTIES
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
  foreach(target IN LISTS ARGN)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:gsc_warnings>)
  endforeach()
endfunction()
