# The program, and the manual pages and completions, which hybrid_spmm_pages writes from the tables
# of commands and options.
file(GLOB HYBRID_CLI_SOURCES CONFIGURE_DEPENDS
  cli/commands/*.c cli/operands/*.c cli/options/*.c cli/output/*.c cli/trace/*.c)
list(REMOVE_ITEM HYBRID_CLI_SOURCES ${PROJECT_SOURCE_DIR}/cli/commands/main.c)
file(GLOB page CONFIGURE_DEPENDS cli/trace/page*.html cli/trace/page*.css cli/trace/page*.js)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/page.c
  COMMAND ${CMAKE_COMMAND} -D FOLDER=${PROJECT_SOURCE_DIR}/cli/trace -D OUT=${PROJECT_BINARY_DIR}/page.c
    -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
  DEPENDS ${page} cmake/embed_page.cmake
  COMMENT "Embedding the page of traces" VERBATIM)
add_library(hybrid_cli OBJECT ${HYBRID_CLI_SOURCES} ${PROJECT_BINARY_DIR}/page.c)
target_link_libraries(hybrid_cli PRIVATE hybrid_flags ZLIB::ZLIB)

# hybrid_add_cli(<target> <output name> <source>...)
function(hybrid_add_cli target output)
  add_executable(${target} ${ARGN} $<TARGET_OBJECTS:hybrid_cli>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${output} LINKER_LANGUAGE C)
  target_link_libraries(${target} PRIVATE hybrid_flags hybrid_spmm_static ZLIB::ZLIB m)
endfunction()

hybrid_add_cli(hybrid_spmm_cli hybrid_spmm cli/commands/main.c)
install(TARGETS hybrid_spmm_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

file(GLOB pages CONFIGURE_DEPENDS cli/pages/*.c)
hybrid_add_cli(hybrid_spmm_pages hybrid_spmm_pages ${pages})
set(share ${PROJECT_BINARY_DIR}/share) # a folder with the layout of the installed share/
string(TIMESTAMP today %Y-%m-%d UTC)   # the date of SOURCE_DATE_EPOCH if that is set
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/pages.stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${share}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${share}/man/man1 ${share}/bash-completion/completions
    ${share}/zsh/site-functions ${share}/fish/vendor_completions.d
  COMMAND hybrid_spmm_pages ${share} ${today}
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/pages.stamp
  DEPENDS hybrid_spmm_pages
  COMMENT "Writing manual pages and completions" VERBATIM)
add_custom_target(pages ALL DEPENDS ${PROJECT_BINARY_DIR}/pages.stamp)
install(DIRECTORY ${share}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${share}/bash-completion ${share}/zsh ${share}/fish
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR})
