# embed_file(TARGET NAME FILE): compiles FILE into TARGET as `std::string_view gsc::embedded::NAME()`.
#
# The file becomes an array of numbers, not a string literal, so that any byte may stand in it and no compiler's limit on
# literals matters. It is turned anew whenever the file or this script changes. The build calls this same script with -P.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${INPUT}" hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  file(WRITE "${OUTPUT}" "// Made from ${INPUT} by cmake/EmbedFile.cmake.
#include <string_view>

namespace gsc::embedded {

std::string_view ${NAME}();

// One more byte, so that an empty file makes a legal array too.
static const unsigned char bytes[] = {
${bytes}0};

std::string_view ${NAME}() { return {reinterpret_cast<const char*>(bytes), ${size}}; }

}  // namespace gsc::embedded
")
  return()
endif()

set(GSC_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(embed_file target name file)
  get_filename_component(input ${file} ABSOLUTE)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded/${name}.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${output} -DNAME=${name} -P ${GSC_EMBED_SCRIPT}
    DEPENDS ${input} ${GSC_EMBED_SCRIPT}
    COMMENT "Embedding ${file}" VERBATIM)
  # The target may be of another folder, which knows the command by this name only.
  add_custom_target(${target}_${name} DEPENDS ${output})
  add_dependencies(${target} ${target}_${name})
  target_sources(${target} PRIVATE ${output})
  set_source_files_properties(${output} TARGET_DIRECTORY ${target} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
