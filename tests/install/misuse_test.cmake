# assay_add_conformance_test reports a wrong call before it registers a test. Usage: cmake -D
# MODULE=AssayConformanceTest.cmake -D FOLDER=<folder> -P misuse_test.cmake
cmake_minimum_required(VERSION 3.25)

# expect(<text> <word ...>): checks that the call with these words fails with the text.
function(expect text)
  list(JOIN ARGN " " words)
  file(WRITE ${FOLDER}/call.cmake "cmake_minimum_required(VERSION 3.25)\ninclude(${MODULE})\nassay_add_conformance_test(${words})\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -P ${FOLDER}/call.cmake WORKING_DIRECTORY ${FOLDER}
                  RESULT_VARIABLE status ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  string(FIND "${said}" "${text}" at)
  if(status EQUAL 0 OR at EQUAL -1)
    message(SEND_ERROR "assay_add_conformance_test(${words}) prints\n${said}\ninstead of\n${text}")
  endif()
endfunction()

set(named "assay_add_conformance_test(NAME mine)")
foreach(keyword OPERATOR IMPLEMENTATION BUDGET LEAST_JUDGED TIMEOUT GROUPS)
  expect("${named}: ${keyword} has no value" NAME mine TARGET t ${keyword})
endforeach()
expect("${named}: BUDGET, GROUPS has no value" NAME mine TARGET t GROUPS BUDGET)
expect("assay_add_conformance_test needs NAME" TARGET t)
expect("${named} needs either TARGET or COMMAND" NAME mine)
expect("${named} needs either TARGET or COMMAND" NAME mine TARGET t COMMAND c)
expect("'BUGDET;5s' belongs to no keyword" NAME mine BUGDET 5s TARGET t)
expect("${named}: GROUPS has 'bf16'; expected <group>=<filter>" NAME mine TARGET t GROUPS bf16)
# A valid call is not rejected: it reaches a command that a CMake script cannot run.
expect("add_test command is not scriptable" NAME mine TARGET t ARGS LABELS)
