# Man pages and completion, made by the built program from its table of options. They carry the date of the release
# (CITATION.cff), not that of the build.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/CITATION.cff)
file(STRINGS ${PROJECT_SOURCE_DIR}/CITATION.cff date REGEX "^date-released: ")
string(REGEX REPLACE "^date-released: *\"?([0-9-]+)\"?.*" "\\1" date "${date}")
if(NOT date MATCHES "^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]$")
  message(FATAL_ERROR "CITATION.cff has no line `date-released: YYYY-MM-DD`; the man pages need it")
endif()

set(pages ${PROJECT_BINARY_DIR}/pages)
add_custom_command(OUTPUT ${pages}/made
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}
  COMMAND gsc_program make-pages ${pages} ${date}
  COMMAND ${CMAKE_COMMAND} -E touch ${pages}/made
  DEPENDS gsc_program
  COMMENT "Making man pages and completion" VERBATIM)
add_custom_target(gsc_pages ALL DEPENDS ${pages}/made)

install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
install(FILES ${pages}/bash/gsc DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${pages}/zsh/_gsc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(FILES ${pages}/fish/gsc.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
