# assay_add_conformance_test(NAME <name> (TARGET <target> | COMMAND <program> [word ...])
# [OPERATOR <operator>] [IMPLEMENTATION <name>] [BUDGET <time>] [LEAST_JUDGED <cases>] [ARGS <flag>
# ...]
#   [LABELS <label> ...] [TIMEOUT <seconds>])
#
# Registers a sweep of a user's implementation as the CTest test <name>. TARGET or COMMAND is a
# binary that calls assay::cli::main with a registry of its own; ARGS are further flags of its
# command sweep. The test passes if the implementation conforms: a sweep that is not conclusive
# fails too. Reports: <binary folder>/conformance/<name>.json, .html. BUDGET (default 60s) stops
# starting new cases, the cheapest of which come first; fewer than LEAST_JUDGED (default 100) cases
# judged by numbers are a failure, which says why the others were not. TIMEOUT (default 1500) is
# CTest's.
function(assay_add_conformance_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg ""
    "NAME;TARGET;OPERATOR;IMPLEMENTATION;BUDGET;LEAST_JUDGED;TIMEOUT" "COMMAND;ARGS;LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "assay_add_conformance_test: '${arg_UNPARSED_ARGUMENTS}' belongs to no keyword")
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
  if(NOT DEFINED arg_LEAST_JUDGED)
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
  add_test(NAME ${arg_NAME}
    COMMAND ${arg_COMMAND} sweep ${arg_OPERATOR} --budget ${arg_BUDGET}
            --require-judged ${arg_LEAST_JUDGED}
            --report ${reports}/${arg_NAME}.json --html ${reports}/${arg_NAME}.html ${arg_ARGS})
  list(APPEND arg_LABELS conformance)
  set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()
