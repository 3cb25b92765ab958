# Installs BUILD below FOLDER, builds the consumer against the install alone, and runs its tests.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/prefix)

# Installed are the headers that users include, and what those include: nothing of it is missing, and no more is there.
file(GLOB_RECURSE headers RELATIVE ${FOLDER}/prefix/include ${FOLDER}/prefix/include/*)
set(all_headers "")
foreach(header IN LISTS headers)
  string(APPEND all_headers "#include <${header}>\n")
endforeach()
file(WRITE ${FOLDER}/all_headers.cpp "${all_headers}")
list(FILTER headers EXCLUDE REGEX "^(acl|aclnn|aclnnop|assay/cli|assay/spec)/")
set(others assay/conformance/judge/verdict.hpp assay/fixtures/destination.hpp assay/fixtures/file.hpp assay/fixtures/record.hpp
           assay_plugin.h)
if(NOT headers STREQUAL others)
  message(FATAL_ERROR "beside those of acl, cli and spec these headers are installed:\n${headers}\nUsers need:\n${others}")
endif()

run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${FOLDER}/build -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${FOLDER}/prefix
    -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=Release -D ALL_HEADERS=${FOLDER}/all_headers.cpp)
run(${CMAKE_COMMAND} --build ${FOLDER}/build)

file(GLOB FILES ${FOLDER}/prefix/bin/* ${FOLDER}/prefix/lib/*.so)
include(${CMAKE_CURRENT_LIST_DIR}/hardened.cmake)

# The package must not lead back to the sources or the build.
file(GLOB_RECURSE package ${FOLDER}/prefix/*.cmake)
foreach(file IN LISTS package)
  file(READ ${file} text)
  foreach(origin ${BUILD} ${SOURCE}/)
    string(FIND "${text}" "${origin}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} refers to ${origin}")
    endif()
  endforeach()
endforeach()

# The component aclnn alone is a package.
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/aclnn --component aclnn)
if(EXISTS ${FOLDER}/aclnn/bin)
  message(FATAL_ERROR "the component aclnn installs programs")
endif()
run(${CMAKE_COMMAND} -S ${CONSUMER}/../aclnn_consumer -B ${FOLDER}/aclnn_build -G ${GENERATOR}
    -D CMAKE_PREFIX_PATH=${FOLDER}/aclnn -D CMAKE_CXX_COMPILER=${COMPILER} -D CONSUMER=${CONSUMER})
run(${CMAKE_COMMAND} --build ${FOLDER}/aclnn_build)
run(${FOLDER}/aclnn_build/calls_aclnn)

run(${CMAKE_CTEST_COMMAND} --test-dir ${FOLDER}/build --output-on-failure -R "stored_case|calls_aclnn|plain_conforms")
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${FOLDER}/build --output-on-failure -R zeros_conforms
                RESULT_VARIABLE status OUTPUT_VARIABLE output)
if(status EQUAL 0 OR NOT output MATCHES "nonconformant_")
  message(FATAL_ERROR "an implementation that writes zeros must be found nonconformant:\n${output}")
endif()
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${FOLDER}/build --output-on-failure -R plain_is_hardly_judged
                RESULT_VARIABLE status OUTPUT_VARIABLE output)
if(status EQUAL 0 OR NOT output MATCHES "only [0-9]+ of [0-9]+ cases were judged by numbers; --require-judged is 100"
   OR NOT output MATCHES "does not offer this: only padded layouts")
  message(FATAL_ERROR "a test that judges hardly anything must fail, and say why:\n${output}")
endif()
if(NOT output MATCHES "  my_kernels run flash_attention_score_grad")
  message(FATAL_ERROR "replay lines of a user's binary must start with its name:\n${output}")
endif()
foreach(report plain_conforms.json plain_conforms.html)
  if(NOT EXISTS ${FOLDER}/build/conformance/${report})
    message(FATAL_ERROR "${report} was not written")
  endif()
endforeach()

# What README.md shows of CMake is a whole file, which registers a test.
file(READ ${SOURCE}/README.md readme)
if(NOT readme MATCHES "```cmake\n([^`]*)```")
  message(FATAL_ERROR "README.md shows no CMake")
endif()
file(WRITE ${FOLDER}/readme/CMakeLists.txt "${CMAKE_MATCH_1}")
file(COPY_FILE ${CONSUMER}/my_kernels.cpp ${FOLDER}/readme/main.cpp)
run(${CMAKE_COMMAND} -S ${FOLDER}/readme -B ${FOLDER}/readme_build -G ${GENERATOR}
    -D CMAKE_PREFIX_PATH=${FOLDER}/prefix -D CMAKE_CXX_COMPILER=${COMPILER})
if(output MATCHES "CMake Warning")
  message(FATAL_ERROR "the CMake of README.md is taken with a warning:\n${output}")
endif()
run(${CMAKE_CTEST_COMMAND} --test-dir ${FOLDER}/readme_build -N)
if(NOT output MATCHES "mine.conformance")
  message(FATAL_ERROR "the CMake of README.md registers no test:\n${output}")
endif()
