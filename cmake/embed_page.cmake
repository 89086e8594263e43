# Writes a page in C arrays: page.html with page.css and the scripts inside, cut where the
# trace stands.
# Usage: cmake -D FOLDER=<folder of page.html> -D OUT=<file.c> -P embed_page.cmake
cmake_minimum_required(VERSION 3.25)
file(READ ${FOLDER}/page.html page)
file(READ ${FOLDER}/page.css css)

function(replace_once text by)
  string(FIND "${page}" "${text}" first)
  string(FIND "${page}" "${text}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "page.html must contain ${text} once")
  endif()
  string(REPLACE "${text}" "${by}" page "${page}")
  set(page "${page}" PARENT_SCOPE)
endfunction()

# The page itself forbids the browser to load anything.
set(policy "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'")
replace_once("<link rel=\"stylesheet\" href=\"page.css\">"
  "<meta http-equiv=\"Content-Security-Policy\" content=\"${policy}\">\n<style>\n${css}</style>")
foreach(name page_data page_draw page)
  file(READ ${FOLDER}/${name}.js js)
  replace_once("<script src=\"${name}.js\"></script>" "<script>\n${js}</script>")
endforeach()

set(mark "<script type=\"application/json\" id=\"trace\">")
string(FIND "${page}" "${mark}" at)
string(LENGTH "${mark}" length)
math(EXPR at "${at} + ${length}")
string(SUBSTRING "${page}" 0 ${at} head)
string(SUBSTRING "${page}" ${at} -1 tail)

set(c "/* Made of cli/trace/page.* by cmake/embed_page.cmake. */\n#include <stddef.h>\n")
foreach(part head tail)
  string(HEX "${${part}}" hex)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(................................................................................)"
    "\\1\n" bytes "${bytes}")
  string(APPEND c "extern const unsigned char cli_page_${part}[];\n"
    "extern const size_t cli_page_${part}_bytes;\n"
    "const unsigned char cli_page_${part}[] = {\n${bytes}};\n"
    "const size_t cli_page_${part}_bytes = sizeof cli_page_${part};\n")
endforeach()
file(WRITE ${OUT} "${c}")
