# Fails unless each of FILES, programs and shared libraries, was built with hardening, so that a memory error ends it.
# Usage: cmake -D READELF=<readelf> -D FORTIFIED=<bool> "-DFILES=<file>;..." -P hardened.cmake
cmake_minimum_required(VERSION 3.25)

function(require_hardened file)
  execute_process(COMMAND ${READELF} -hldW --dyn-syms ${file} OUTPUT_VARIABLE text RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${READELF} cannot read ${file}")
  endif()
  foreach(rule "a place of its own in memory: Type: +DYN" "read-only relocations: GNU_RELRO"
               "binding at its start: \\(FLAGS_?1?\\) [^\n]*NOW" "a stack that is not code: GNU_STACK [^\n]* RW "
               "protected stacks: __stack_chk_fail")
    string(REGEX MATCH "^([^:]*): (.*)$" ignored "${rule}")
    set(what ${CMAKE_MATCH_1})
    set(sign ${CMAKE_MATCH_2})
    if(NOT text MATCHES "${sign}")
      message(SEND_ERROR "${file} lacks: ${what}")
    endif()
  endforeach()
  if(FORTIFIED AND NOT text MATCHES "__[a-z0-9]+_chk@")
    message(SEND_ERROR "${file} has no fortified calls of the C library")
  endif()
endfunction()

foreach(file IN LISTS FILES)
  require_hardened(${file})
endforeach()
