# Reports two tests with the same name, in different folders, too. Reports names that do not begin like a claim.
cmake_minimum_required(VERSION 3.25)

# Runs the check with the given arguments and stores its output.
function(check)
  execute_process(COMMAND ${CMAKE_COMMAND} ${ARGN} -P ${CMAKE_CURRENT_LIST_DIR}/test_names.cmake
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
  set(status "${status}" PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
  set(error "${error}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/CTestTestfile.cmake "add_test(one true)\nadd_test(two true)\nsubdirs(inner)\n")
foreach(name IN ITEMS three two)
  file(WRITE ${FOLDER}/inner/CTestTestfile.cmake "add_test(${name} true)\n")
  check(-D BUILD=${FOLDER})
  if(name STREQUAL three AND NOT (status EQUAL 0 AND output MATCHES "3 tests"))
    message(FATAL_ERROR "three different names must be accepted: ${output}${error}")
  elseif(name STREQUAL two AND (status EQUAL 0 OR NOT error MATCHES "two tests have one name:[ \n]+two"))
    message(FATAL_ERROR "the name of two tests was not found: ${output}${error}")
  endif()
endforeach()

# name_in(<kind> <name>): writes a test with this name, and sets `arguments` for the check.
function(name_in kind name)
  file(REMOVE_RECURSE ${FOLDER})
  if(kind STREQUAL ctest)
    file(WRITE ${FOLDER}/CTestTestfile.cmake "add_test(${name} true)\n")
    set(arguments -D BUILD=${FOLDER} PARENT_SCOPE)
  elseif(kind STREQUAL cpp)
    string(REPLACE "." ", " name "${name}")
    file(WRITE ${FOLDER}/tests/some_test.cpp "TEST(${name}) { EXPECT_EQ(1, 1); }\n")
    set(arguments -D ROOT=${FOLDER} PARENT_SCOPE)
  else()
    file(WRITE ${FOLDER}/tests/test_some.py "def ${name}() -> None:\n    pass\n")
    set(arguments -D ROOT=${FOLDER} PARENT_SCOPE)
  endif()
endfunction()

foreach(test IN ITEMS
    "ctest Exp.OfZeroIsOne" "ctest Sizes/Exp.WhatIsTested/3" "ctest house.whether_it_works" "ctest Mask.Of"
    "cpp Exp.OfZeroIsOne" "cpp Masks.Of1024RowsDependOnOne" "cpp Rows.WhereTypesOverflow" "cpp Causes.WhateverTheFields"
    "python test_what_fails_is_explained" "python test_so_it_is")
  string(REPLACE " " ";" test "${test}")
  name_in(${test})
  check(${arguments})
  list(GET test 1 name)
  string(REPLACE "." "(\\.|, )" name "${name}")
  if(status EQUAL 0 OR NOT error MATCHES "expected a claim" OR NOT error MATCHES "${name}")
    message(FATAL_ERROR "this name must be refused: ${test}: ${output}${error}")
  endif()
endforeach()
foreach(test IN ITEMS
    "ctest Exp.ZeroGivesOne" "ctest Row.SoftmaxSumsToOne" "ctest Row.OffsetIsZero" "ctest house.often_it_works"
    "cpp Exp.ZeroGivesOne" "cpp Row.OffsetIsZero" "cpp PartOf.OneKeyIsRead" "python test_the_sum_of_one_key_is_one"
    "python test_softmax_sums_to_one")
  string(REPLACE " " ";" test "${test}")
  name_in(${test})
  check(${arguments})
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "this name must be accepted: ${test}: ${output}${error}")
  endif()
endforeach()
file(REMOVE_RECURSE ${FOLDER})
check(-D ROOT=${FOLDER})
if(status EQUAL 0)
  message(FATAL_ERROR "a folder without tests must be refused: ${output}${error}")
endif()
