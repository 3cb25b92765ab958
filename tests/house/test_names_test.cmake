# Two tests with the same name are reported, in different folders, too.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/CTestTestfile.cmake "add_test(one true)\nadd_test(two true)\nsubdirs(inner)\n")
foreach(name IN ITEMS three two)
  file(WRITE ${FOLDER}/inner/CTestTestfile.cmake "add_test(${name} true)\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -D BUILD=${FOLDER} -P ${CMAKE_CURRENT_LIST_DIR}/test_names.cmake
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(name STREQUAL three AND NOT (status EQUAL 0 AND output MATCHES "3 tests"))
    message(FATAL_ERROR "three different names must be accepted: ${output}${error}")
  elseif(name STREQUAL two AND (status EQUAL 0 OR NOT error MATCHES "two tests have one name:[ \n]+two"))
    message(FATAL_ERROR "the name of two tests was not found: ${output}${error}")
  endif()
endforeach()
