# Makes pages of the public headers with Doxygen. Usage: cmake [-D FOLDER=<folder>] -P tools/docs/docs.cmake
# The first page is FOLDER/html/index.html [build/docs]. Fails for a comment that Doxygen cannot parse, and for a type
# without a comment. One comment may describe several functions or members with clear names. -D ROOT=<folder> reads the
# headers of another tree.
cmake_minimum_required(VERSION 3.25)

if(NOT ROOT)
  get_filename_component(ROOT ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
endif()
if(NOT FOLDER)
  set(FOLDER ${ROOT}/build/docs)
endif()
find_program(ASSAY_DOXYGEN doxygen)
if(NOT ASSAY_DOXYGEN)
  message(FATAL_ERROR "doxygen is missing; 'tools/setup check' installs it")
endif()

file(MAKE_DIRECTORY ${FOLDER})
file(READ ${CMAKE_CURRENT_LIST_DIR}/Doxyfile settings)
file(WRITE ${FOLDER}/Doxyfile
  "${settings}\nOUTPUT_DIRECTORY = \"${FOLDER}\"\nWARN_LOGFILE = \"${FOLDER}/warnings\"\n")
execute_process(COMMAND ${ASSAY_DOXYGEN} ${FOLDER}/Doxyfile WORKING_DIRECTORY ${ROOT} COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS ${FOLDER}/html/index.html)
  message(FATAL_ERROR "doxygen wrote no ${FOLDER}/html/index.html")
endif()

file(STRINGS ${FOLDER}/warnings warnings)
list(FILTER warnings EXCLUDE REGEX ": Member .* is not documented")
list(REMOVE_DUPLICATES warnings)
list(LENGTH warnings number_of_warnings)
foreach(warning IN LISTS warnings)
  message("${warning}")
endforeach()
if(number_of_warnings GREATER 0)
  message(FATAL_ERROR "${number_of_warnings} warnings of doxygen")
endif()
