# docs.cmake must report a type without a comment and a comment that Doxygen ignores; functions need no comment.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${FOLDER})
foreach(layer conformance conformance/adapters engine fixtures optimized optimized/aclnn optimized/device reference spec spec/parallel
              tools/assay)
  file(MAKE_DIRECTORY ${FOLDER}/tree/${layer}/include)
endforeach()
file(WRITE ${FOLDER}/tree/spec/include/good.hpp "/// A type.\nstruct Good {\n  int member = 0;\n  int function();\n};\n")
file(WRITE ${FOLDER}/tree/spec/include/bare.hpp "namespace assay {\nstruct Bare {\n  int member = 0;\n};\n}\n")
file(WRITE ${FOLDER}/tree/spec/include/odd.hpp "/// Written to <path>.\nstruct Odd {};\n")

execute_process(COMMAND ${CMAKE_COMMAND} -D ROOT=${FOLDER}/tree -D FOLDER=${FOLDER}/pages -P ${DOCS}
                RESULT_VARIABLE status ERROR_VARIABLE output)
foreach(expected "bare.hpp:2: [^\n]*Bare is not documented" "odd.hpp:1: [^\n]*<path>" "2 warnings of doxygen")
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "'${expected}' was not found in:\n${output}")
  endif()
endforeach()
if(status EQUAL 0 OR output MATCHES "good.hpp")
  message(FATAL_ERROR "two of the three headers must fail:\n${output}")
endif()
