# Tests that every rule of equations.cmake can fail. For each rule there is a folder that violates it.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/docs/formula_sheet.md
     "| E1 | tau | `tau_of` |\n| E2 | h | `h_of` |\n| E3 | R | `rms_of` |\n| E4 | b |  |\n")
file(WRITE ${FOLDER}/conformance/judge.cpp
     "/// E1. Tau.\ndouble tau_of(double x)\;\n/// Half a unit.\ndouble h_of(double x)\;\n/// E3.\ndouble rms_of()\;\n// By E9.\n")
file(WRITE ${FOLDER}/tests/judge_test.cpp "/// E1, E2 and E4.\nTEST(A, B) {}\n")

execute_process(COMMAND ${CMAKE_COMMAND} -D ROOT=${FOLDER} -P ${CMAKE_CURRENT_LIST_DIR}/equations.cmake
                RESULT_VARIABLE status ERROR_VARIABLE output)
foreach(breach "E2: no function h_of" "E3 is named by no test" "E4 names no function"
               "E9 of a comment is not in the sheet" "4 breaches")
  if(NOT output MATCHES "${breach}")
    message(FATAL_ERROR "'${breach}' was not found in:\n${output}")
  endif()
endforeach()
if(status EQUAL 0)
  message(FATAL_ERROR "equations.cmake must fail")
endif()
