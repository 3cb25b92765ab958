# Checks that object files for one instruction set contain no function that the linker may merge with another file's
# function: the merged function might use instructions that this machine lacks, or pass lanes in other registers.
# Usage: cmake -D NM=<nm> "-DOBJECTS=<object>;..." -P merged.cmake
cmake_minimum_required(VERSION 3.25)

list(LENGTH OBJECTS count)
if(count EQUAL 0)
  message(FATAL_ERROR "OBJECTS is empty")
endif()
set(breaches 0)
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} --demangle --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]* [WVu] [^\n]*" merged "${symbols}")
  list(FILTER merged EXCLUDE REGEX " DW\\.ref\\.")  # data of exceptions, no function
  foreach(symbol IN LISTS merged)
    math(EXPR breaches "${breaches} + 1")
    message("${object}: ${symbol}")
  endforeach()
endforeach()
if(breaches GREATER 0)
  message(FATAL_ERROR "${breaches} functions of ${count} objects may be merged with others")
endif()
