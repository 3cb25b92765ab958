# Compiles variants of SOURCE. Without the lines that end in "// offends: <pattern>" it must compile. With them the
# compilation must fail with a message that matches the pattern. If any one line that ends in "// missing: <pattern>" is
# removed, the compilation must fail in the same way.
file(READ ${SOURCE} whole)
string(REGEX MATCHALL "// (offends|missing): [^\n]+" marks "${whole}")
if(NOT marks)
  message(FATAL_ERROR "${SOURCE} has no line that ends in '// offends: <pattern>' or '// missing: <pattern>'")
endif()
list(TRANSFORM INCLUDES PREPEND -I)

# expect(<text> <pattern>): checks that the text compiles if the pattern is empty, and otherwise fails with a message
# that matches.
function(expect text pattern)
  file(WRITE ${FOLDER}/source.cpp "${text}")
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${INCLUDES} ${FOLDER}/source.cpp
                  RESULT_VARIABLE status ERROR_VARIABLE output)
  if(pattern STREQUAL "" AND NOT status EQUAL 0)
    message(FATAL_ERROR "${SOURCE} must compile without its offending lines:\n${output}")
  elseif(NOT pattern STREQUAL "" AND status EQUAL 0)
    message(FATAL_ERROR "${SOURCE} must fail to compile with '${pattern}'")
  elseif(NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "${SOURCE} fails to compile, but not with '${pattern}':\n${output}")
  endif()
endfunction()

string(REGEX REPLACE "[^\n]*// offends: [^\n]*\n" "" innocent "${whole}")
expect("${innocent}" "")
foreach(mark IN LISTS marks)
  string(REGEX REPLACE "^// [a-z]+: " "" pattern "${mark}")
  if(mark MATCHES "^// offends")
    expect("${whole}" "${pattern}")
  else()
    string(FIND "${whole}" "${mark}" place)
    string(SUBSTRING "${whole}" 0 ${place} before)
    string(SUBSTRING "${whole}" ${place} -1 after)
    string(REGEX REPLACE "\n[^\n]*$" "" before "${before}")
    string(FIND "${after}" "\n" end)
    string(SUBSTRING "${after}" ${end} -1 after)
    expect("${before}${after}" "${pattern}")
  endif()
endforeach()
