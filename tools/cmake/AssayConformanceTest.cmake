# assay_add_conformance_test(NAME <name> (TARGET <target> | COMMAND <program> [word ...])
# [OPERATOR <operator>] [IMPLEMENTATION <name>] [BUDGET <time>] [LEAST_JUDGED <cases>] [ARGS <flag>
# ...]
#   [GROUPS <group>=<filter> ...] [LABELS <label> ...] [TIMEOUT <seconds>])
#
# Registers a sweep of a user's implementation as the CTest test <name>. TARGET or COMMAND is a
# binary that calls assay::cli::main with a registry of its own; ARGS are further flags of its
# command sweep. The test passes if the implementation conforms: a sweep that is not conclusive
# fails too. Reports: <binary folder>/conformance/<name>.json, .html. BUDGET (default 60s): no new case starts after
# this time; the cheapest cases run first. The test also fails if fewer than LEAST_JUDGED cases (default 100, for a
# group 1) were judged numerically; it then prints why the others were not. TIMEOUT (default 1500) is the timeout of
# CTest. With GROUPS there is one test for each group, <name>.<group>, with the cases that its filter selects, as with
# --only: "bf16=--dtype=bf16 & !--track=relation"; ctest -j runs them in parallel.
function(assay_add_conformance_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg ""
    "NAME;TARGET;OPERATOR;IMPLEMENTATION;BUDGET;LEAST_JUDGED;TIMEOUT" "COMMAND;ARGS;LABELS;GROUPS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "assay_add_conformance_test: '${arg_UNPARSED_ARGUMENTS}' belongs to no keyword")
  endif()
  # An empty list is valid for these keywords; for others it comes from a variable that was never set.
  list(REMOVE_ITEM arg_KEYWORDS_MISSING_VALUES ARGS LABELS)
  if(arg_KEYWORDS_MISSING_VALUES)
    list(JOIN arg_KEYWORDS_MISSING_VALUES ", " missing)
    message(FATAL_ERROR "assay_add_conformance_test(NAME ${arg_NAME}): ${missing} has no value; leave it out or give one")
  endif()
  if(NOT arg_NAME)
    message(FATAL_ERROR "assay_add_conformance_test needs NAME")
  endif()
  if(arg_TARGET AND arg_COMMAND OR NOT (arg_TARGET OR arg_COMMAND))
    message(FATAL_ERROR "assay_add_conformance_test(NAME ${arg_NAME}) needs either TARGET or COMMAND")
  endif()
  if(arg_TARGET)
    set(arg_COMMAND $<TARGET_FILE:${arg_TARGET}>)
  endif()
  if(NOT arg_BUDGET)
    set(arg_BUDGET 60s)
  endif()
  if(NOT DEFINED arg_LEAST_JUDGED AND arg_GROUPS)
    set(arg_LEAST_JUDGED 1)
  elseif(NOT DEFINED arg_LEAST_JUDGED)
    set(arg_LEAST_JUDGED 100)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 1500)
  endif()
  if(arg_IMPLEMENTATION)
    list(PREPEND arg_ARGS --implementation ${arg_IMPLEMENTATION})
  endif()
  set(reports ${CMAKE_CURRENT_BINARY_DIR}/conformance)
  file(MAKE_DIRECTORY ${reports})
  list(APPEND arg_LABELS conformance)
  set(command ${arg_COMMAND} sweep ${arg_OPERATOR} --budget ${arg_BUDGET} --require-judged ${arg_LEAST_JUDGED} ${arg_ARGS})
  if(NOT arg_GROUPS)
    assay_add_sweep(${arg_NAME} "${arg_LABELS}" ${arg_TIMEOUT} ${reports} ${command})
  endif()
  foreach(group IN LISTS arg_GROUPS)
    if(NOT group MATCHES "^([A-Za-z0-9_.-]+)=(.+)$")
      message(FATAL_ERROR "assay_add_conformance_test(NAME ${arg_NAME}): GROUPS has '${group}'; expected <group>=<filter>")
    endif()
    assay_add_sweep(${arg_NAME}.${CMAKE_MATCH_1} "${arg_LABELS}" ${arg_TIMEOUT} ${reports} ${command} "--only=${CMAKE_MATCH_2}")
  endforeach()
endfunction()

# assay_add_sweep(<name> <labels> <timeout> <folder> <command> ...): adds the test, with its reports in the folder.
function(assay_add_sweep name labels timeout folder)
  add_test(NAME ${name} COMMAND ${ARGN} --report ${folder}/${name}.json --html ${folder}/${name}.html)
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout})
endfunction()
