# Objects that are compiled for one kind of instructions have no function that the linker merges with another file's: it may
# be one for instructions that this machine lacks, or with lanes in other registers.
# Usage: cmake -D NM=<nm> "-DOBJECTS=<object>;..." -P merged.cmake
cmake_minimum_required(VERSION 3.25)

list(LENGTH OBJECTS count)
if(count EQUAL 0)
  message(FATAL_ERROR "no objects")
endif()
set(breaches 0)
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} --demangle --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]* [WVu] [^\n]*" merged "${symbols}")
  foreach(symbol IN LISTS merged)
    math(EXPR breaches "${breaches} + 1")
    message("${object}: ${symbol}")
  endforeach()
endforeach()
if(breaches GREATER 0)
  message(FATAL_ERROR "${breaches} functions of ${count} objects may be merged with others")
endif()
