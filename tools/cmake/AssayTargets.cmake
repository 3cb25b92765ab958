# Functions that make the project's own targets. The code of a layer may include only headers of layers that it links.

# Refuses flags with which two builds would compute different numbers.
function(assay_refuse_value_changing_flags)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  foreach(flags CMAKE_CXX_FLAGS CMAKE_CXX_FLAGS_${build_type} CMAKE_C_FLAGS)
    foreach(flag -ffast-math -Ofast -march=native -funsafe-math-optimizations)
      string(FIND " ${${flags}} " " ${flag} " position)
      if(NOT position EQUAL -1)
        message(FATAL_ERROR "${flags} holds ${flag}: results would depend on the machine")
      endif()
    endforeach()
  endforeach()
endfunction()

# With GCC, compiles through ccache if it is installed, so that a file that was compiled before is not compiled again, even
# in another clone: paths below the base folder do not count. ccache demands this sloppiness for precompiled headers.
function(assay_use_compile_cache)
  find_program(ASSAY_CCACHE ccache)
  if(ASSAY_COMPILE_CACHE AND ASSAY_CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_ABSSTDERR=1 CCACHE_DEPEND=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${ASSAY_CCACHE} PARENT_SCOPE)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endfunction()

# Sets ASSAY_OPERATORS to the names of the operators that the header includes: the only list of operators. Sets
# ASSAY_OPTIMIZED_OPERATORS to those for which Assay has an implementation.
function(assay_read_operators header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(STRINGS ${header} includes REGEX "^#include \"assay/spec/operators/")
  list(TRANSFORM includes REPLACE "^.*/operators/([a-z0-9_]+)\\.hpp\"$" "\\1")
  if(NOT includes)
    message(FATAL_ERROR "${header} includes no operator")
  endif()
  set(ASSAY_OPERATORS ${includes} PARENT_SCOPE)
  foreach(operator IN LISTS includes)
    if(EXISTS ${PROJECT_SOURCE_DIR}/optimized/include/assay/optimized/${operator}.hpp)
      list(APPEND optimized ${operator})
    endif()
  endforeach()
  set(ASSAY_OPTIMIZED_OPERATORS ${optimized} PARENT_SCOPE)
endfunction()

# assay_add_rooms([<folder>]): adds the subfolder of every operator of the list, here or in <folder>, if it exists.
function(assay_add_rooms)
  foreach(operator IN LISTS ASSAY_OPERATORS)
    cmake_path(APPEND ARGV0 ${operator} OUTPUT_VARIABLE room)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/CMakeLists.txt)
      add_subdirectory(${room})
    endif()
  endforeach()
endfunction()

# assay_add_operators(<target> <folder> [<file>]): adds to the target all sources in the subfolders of <folder> that have the
# name of an operator of the list, except those with the name <file>.
function(assay_add_operators target folder)
  foreach(operator IN LISTS ASSAY_OPERATORS)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/${operator}/*.cpp)
    if(ARGN)
      list(FILTER sources EXCLUDE REGEX "/${ARGV2}$")
    endif()
    if(sources)
      target_sources(${target} PRIVATE ${sources})
    endif()
  endforeach()
endfunction()

# assay_type_name(<operator> <variable>): for example NsaCompressGrad for nsa_compress_grad.
function(assay_type_name operator variable)
  string(REPLACE "_" ";" words ${operator})
  foreach(word IN LISTS words)
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND name ${first}${rest})
  endforeach()
  set(${variable} ${name} PARENT_SCOPE)
endfunction()

# assay_suite_includes(<operator> <layer> <variable>): the lines that include what completes the operator's suite, which
# are its headers below the folder <layer>. An operator without a basis.hpp has the basis of sums of products.
function(assay_suite_includes operator layer variable)
  set(headers "")
  foreach(header basis relations/relations)
    set(header operators/${operator}/${header}.hpp)
    if(EXISTS ${layer}/${header})
      list(APPEND headers ${header})
    endif()
  endforeach()
  if(NOT operators/${operator}/basis.hpp IN_LIST headers)
    list(APPEND headers bilinear/fixed_rows.hpp)
  endif()
  list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"\n")
  string(JOIN "" lines ${headers})
  set(${variable} "${lines}" PARENT_SCOPE)
endfunction()

# Sets ASSAY_FORTIFY to the highest level of _FORTIFY_SOURCE that the compiler and its C library support.
function(assay_find_fortify)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS "-O1 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_cxx_source_compiles("#include <cstring>\nint main() {}" ASSAY_HAS_FORTIFY_3)
  if(ASSAY_HAS_FORTIFY_3)
    set(ASSAY_FORTIFY 3 PARENT_SCOPE)
  else()
    set(ASSAY_FORTIFY 2 PARENT_SCOPE)
  endif()
endfunction()
assay_find_fortify()

# Adds hardening flags, which end a program at a memory error before an attacker can use it. Static libraries are
# compiled for programs; code of shared libraries has POSITION_INDEPENDENT_CODE.
function(assay_harden target)
  set(type $<TARGET_PROPERTY:TYPE>)
  set(is_program $<STREQUAL:${type},EXECUTABLE>)
  set(is_shared $<IN_LIST:${type},SHARED_LIBRARY$<SEMICOLON>MODULE_LIBRARY>)
  set(is_pic $<BOOL:$<TARGET_PROPERTY:POSITION_INDEPENDENT_CODE>>)
  target_compile_options(${target} PRIVATE -fstack-protector-strong
                                           $<$<NOT:$<OR:${is_shared},${is_pic}>>:-fPIE>)
  if(NOT ASSAY_SANITIZE)  # sanitizers check the same calls
    set(optimized $<NOT:$<CONFIG:Debug>>)
    target_compile_options(${target} PRIVATE
      $<${optimized}:-U_FORTIFY_SOURCE> $<${optimized}:-D_FORTIFY_SOURCE=${ASSAY_FORTIFY}>)
  endif()
  target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now,-z,noexecstack $<${is_program}:-pie>)
endfunction()

# Flags of all our targets: no contraction (the compiler may not form fused multiply-adds), hardening, and in developer
# mode warnings, sanitizers, coverage.
function(assay_own_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  assay_harden(${target})
  if(ASSAY_DEVELOPER)
    # GCC 12 mistakes "text" + std::string for overlapping copies (its bug 105651), and assignments to the strings of a
    # precompiled header for reads and writes out of bounds; builds without those headers keep these three warnings.
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                             -Wno-missing-field-initializers -Werror
                                             $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
    if(ASSAY_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow
                                               -Wno-stringop-overread)
    endif()
  endif()
  if(ASSAY_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=all
                                             -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
  if(ASSAY_SANITIZE_THREADS)
    target_compile_options(${target} PRIVATE -fsanitize=thread -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=thread)
    # The resolver of function clones runs before the sanitizer is ready, which would end the program.
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
      if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
        file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/${source} clones REGEX "gnu::target_clones" LIMIT_COUNT 1)
        if(clones)
          set_source_files_properties(${source} PROPERTIES
            COMPILE_OPTIONS -fno-sanitize=thread SKIP_PRECOMPILE_HEADERS ON)
        endif()
      endif()
    endforeach()
  endif()
  if(ASSAY_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link,address,undefined
                                             -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
  if(ASSAY_COVERAGE)
    target_compile_options(${target} PRIVATE --coverage)
    target_link_options(${target} PUBLIC --coverage)
  endif()
endfunction()

# assay_precompile(<group> <target> [NUMBERS]): compiles the target with the precompiled headers of the group, which are
# built once. Groups: plain; pic, for code of shared libraries; quick and quick_pic, for targets of
# assay_build_quickly(); test. Targets of a group have the same flags. Only external headers: every file still includes
# those of our headers that it uses. NUMBERS: with the header of the reference's wide numbers, which takes most of the
# compile time of a file that includes it.
function(assay_precompile group target)
  if(NOT ASSAY_PRECOMPILE)
    return()
  endif()
  set(headers assay_headers_${group})
  if(NUMBERS IN_LIST ARGN)
    string(APPEND headers _numbers)
  endif()
  if(NOT TARGET ${headers})
    set(source ${PROJECT_BINARY_DIR}/${headers}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// The headers alone.\n")
    add_library(${headers} OBJECT ${source})
    assay_own_flags(${headers})
    target_precompile_headers(${headers} PRIVATE
      <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <span> <stdexcept> <string>
      <string_view> <utility> <variant> <vector>)
    if(NUMBERS IN_LIST ARGN)
      target_link_libraries(${headers} PRIVATE Boost::headers)
      target_precompile_headers(${headers} PRIVATE <boost/multiprecision/cpp_bin_float.hpp>)
    endif()
    if(group MATCHES "pic$")
      set_target_properties(${headers} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
    if(group MATCHES "^quick")
      assay_build_quickly(${headers})
    elseif(group STREQUAL test)
      assay_build_unoptimized(${headers})
      target_link_libraries(${headers} PRIVATE GTest::gtest_main)
      target_precompile_headers(${headers} PRIVATE <gtest/gtest.h>)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# assay_add_library(<layer> SOURCES ... [HEADERS ...] [INTERNAL_HEADERS ...] [LINKS ...] [PRIVATE_LINKS ...] [INTERNAL]
#                   [PIC] [QUICK] [NUMBERS]) HEADERS are under include/ of the calling folder. So are INTERNAL_HEADERS: they are
#                   for other layers, not for users, and are not installed. LINKS are the layers that the headers and
#                   sources may include; INTERNAL libraries are not installed; PIC libraries become part of a shared
#                   library; QUICK libraries are built as assay_build_quickly() describes; NUMBERS as in
#                   assay_precompile().
function(assay_add_library layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL;PIC;QUICK;NUMBERS" "" "SOURCES;HEADERS;INTERNAL_HEADERS;LINKS;PRIVATE_LINKS")
  add_library(assay_${layer} STATIC ${arg_SOURCES})
  add_library(assay::${layer} ALIAS assay_${layer})
  target_sources(assay_${layer} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${arg_HEADERS})
  if(arg_INTERNAL_HEADERS)
    # This is a separate target, because all interface headers of an exported target must be installed.
    add_library(assay_${layer}_internal_headers INTERFACE)
    target_sources(assay_${layer}_internal_headers INTERFACE FILE_SET HEADERS BASE_DIRS include FILES ${arg_INTERNAL_HEADERS})
    target_compile_features(assay_${layer}_internal_headers INTERFACE cxx_std_20)
    target_link_libraries(assay_${layer}_internal_headers INTERFACE ${arg_LINKS})
    set_target_properties(assay_${layer}_internal_headers PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
    target_link_libraries(assay_${layer} PUBLIC $<BUILD_INTERFACE:assay_${layer}_internal_headers>)
  endif()
  target_link_libraries(assay_${layer} PUBLIC ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
  set_target_properties(assay_${layer} PROPERTIES EXPORT_NAME ${layer}
                                                  VERIFY_INTERFACE_HEADER_SETS ON)
  assay_own_flags(assay_${layer})
  set(numbers "")
  if(arg_NUMBERS)
    set(numbers NUMBERS)
  endif()
  if(arg_PIC)
    set_target_properties(assay_${layer} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    assay_precompile(pic assay_${layer})
  elseif(arg_QUICK)
    assay_build_quickly(assay_${layer})
    assay_precompile(quick assay_${layer} ${numbers})
  else()
    assay_precompile(plain assay_${layer} ${numbers})
  endif()
  if(NOT arg_INTERNAL)
    install(TARGETS assay_${layer} EXPORT assay-targets FILE_SET HEADERS)
  endif()
endfunction()

# assay_combine(<target> <name> <source>...): compiles these sources of the target as one. UNITY_BUILD would write absolute
# paths into the combined source, so that ccache could not find it in another clone.
function(assay_combine target name)
  set(combined ${CMAKE_CURRENT_BINARY_DIR}/${target}_together/${name}.cpp)
  cmake_path(GET combined PARENT_PATH folder)
  set(includes "")
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${folder})
    string(APPEND includes "#include \"${path}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${combined} CONTENT "${includes}" @ONLY)
  get_target_property(sources ${target} SOURCES)
  list(REMOVE_ITEM sources ${ARGN})
  set_property(TARGET ${target} PROPERTY SOURCES ${sources} ${combined})
  # GCC treats types of the combined source like types of a header, and warns if a member has a type without linkage.
  set_source_files_properties(${combined} PROPERTIES COMPILE_OPTIONS $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# assay_compile_together(<target> [<room>...]): with precompiled headers, compiles the sources of the target in each of
# the named folders, or in every folder if none is named, as one source, because most of the compile time is for headers
# that they share. If they share a name, it must have the same meaning in all of them. Sources with flags of their own are
# compiled separately.
function(assay_compile_together target)
  if(NOT ASSAY_PRECOMPILE)
    return()
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(rooms "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH room)
    cmake_path(RELATIVE_PATH room BASE_DIRECTORY ${folder})
    get_source_file_property(flags ${source} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    if(NOT flags AND (room IN_LIST ARGN OR NOT (ARGN OR room MATCHES "^\\.\\.")))
      list(APPEND rooms ${room})
      list(APPEND sources_of_${room} ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES rooms)
  foreach(room IN LISTS rooms)
    list(LENGTH sources_of_${room} count)
    if(count GREATER 1)
      assay_combine(${target} ${room}/all ${sources_of_${room}})
    endif()
  endforeach()
endfunction()

# assay_add_pairs(<target> <source>...): adds sources that use the engine's lanes, compiled once for each instruction
# set, which ASSAY_INSTRUCTIONS names. They may define only functions that are specific to the instruction set: the
# linker merges all other functions of the same name across files, although each instruction set passes lanes in
# different registers. So functions that are meant to be inlined must be inlined in every build (tests/engine has the
# test).
function(assay_add_pairs target)
  set(kinds portable)
  set(flags_portable "")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    list(APPEND kinds avx2 avx512)
    # Without the last two options GCC copies structures by 16 bytes; a load of 32 bytes waits for both stores.
    set(flags_avx2 -mavx2 -mfma $<$<CXX_COMPILER_ID:GNU>:-mmove-max=256> $<$<CXX_COMPILER_ID:GNU>:-mstore-max=256>)
    set(flags_avx512 -mavx512f -mavx512dq -mavx512vl -mfma)
  endif()
  foreach(kind IN LISTS kinds)
    set(object ${target}_${kind})
    add_library(${object} OBJECT ${ARGN})
    target_compile_definitions(${object} PRIVATE ASSAY_INSTRUCTIONS=${kind})
    target_include_directories(${object} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_link_libraries(${object} PRIVATE assay::engine)
    assay_own_flags(${object})
    # The root of a negative number is NaN; no code reads errno.
    target_compile_options(${object} PRIVATE -fno-math-errno ${flags_${kind}}
      $<$<OR:$<NOT:$<CONFIG:Release>>,$<BOOL:${ASSAY_SANITIZE_THREADS}>>:-O2>)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
  endforeach()
endfunction()

# assay_build_quickly(<target>): for code without inner loops, for which compiling costs more than running.
function(assay_build_quickly name)
  # At -O1 GCC 12 warns wrongly about an empty std::optional.
  target_compile_options(${name} PRIVATE
    $<$<CONFIG:Release>:-O1> $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>)
endfunction()

# assay_build_rooms_quickly(<target> <room>...): builds the sources in these folders, and in the folders below them, as
# assay_build_quickly() describes. Call it after all sources are added.
function(assay_build_rooms_quickly target)
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  set(quick "")
  foreach(room IN LISTS ARGN)
    set(of_room ${sources})
    list(FILTER of_room INCLUDE REGEX "^(${folder}/)?${room}/")
    list(REMOVE_ITEM sources ${of_room})
    list(APPEND quick ${of_room})
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${sources})
  set(part ${target}_quick)
  add_library(${part} OBJECT ${quick})
  get_target_property(links ${target} LINK_LIBRARIES)
  if(links)
    target_link_libraries(${part} PRIVATE ${links})
  endif()
  target_include_directories(${part} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  assay_own_flags(${part})
  assay_build_quickly(${part})
  get_target_property(is_pic ${target} POSITION_INDEPENDENT_CODE)
  if(is_pic)
    set_target_properties(${part} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    assay_precompile(quick_pic ${part})
  else()
    assay_precompile(quick ${part} NUMBERS)
  endif()
  assay_compile_together(${part})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${part}>)
endfunction()

# assay_compile_quickly(<target> <source>...): the same for some sources of a target, which are not compiled together with
# others.
function(assay_compile_quickly target)
  set(quick -O1)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    list(APPEND quick -Wno-maybe-uninitialized)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL Release AND NOT ASSAY_SANITIZE_THREADS)
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "${quick}")
  endif()
endfunction()

# assay_build_unoptimized(<target>): for tests. The code they call is optimized, but their own code is compiled once for
# each run. _FORTIFY_SOURCE needs optimized calls.
function(assay_build_unoptimized name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0> $<$<CONFIG:Release>:-U_FORTIFY_SOURCE>)
endfunction()

# assay_add_paths(<target> <name> <path> ...): defines functions of tests/build_paths.hpp for a test program.
function(assay_add_paths target)
  set(rest ${ARGN})
  set(functions "")
  while(rest)
    list(POP_FRONT rest name path)
    string(APPEND functions "std::string ${name}() { return \"${path}\"; }\n")
  endwhile()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_paths.cpp)
  file(GENERATE OUTPUT ${file}
    CONTENT "#include \"build_paths.hpp\"\n\nnamespace assay::tests {\n\n${functions}\n}  // namespace assay::tests\n")
  set_source_files_properties(${file} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} PRIVATE ${file})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
endfunction()

# assay_add_test(<name> [TOGETHER] [NUMBERS] SOURCES ... LINKS ... [LABELS ...] [TIMEOUT seconds]): a GoogleTest program, one CTest
# test per TEST. TOGETHER: with precompiled headers its sources are compiled eight at a time, since most of the compile time is
# for headers that they share; then a name must have the same meaning in all of them. NUMBERS: as in assay_precompile().
# A program with the label nightly or weekly is built by the target assay_long_tests, not by all. Tests that
# tests/long_tests.txt lists get the label long, and run at night, too. The target assay_sanitize_tests builds the programs with the label sanitize,
# which tools/sanitize runs under sanitizers.
function(assay_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TOGETHER;NUMBERS" "TIMEOUT" "SOURCES;LINKS;LABELS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} GTest::gtest_main)
  assay_own_flags(${name})
  assay_build_unoptimized(${name})
  if(arg_NUMBERS)
    assay_precompile(test ${name} NUMBERS)
  else()
    assay_precompile(test ${name})
  endif()
  list(LENGTH arg_SOURCES count)
  if(ASSAY_PRECOMPILE AND arg_TOGETHER AND count GREATER 1)
    math(EXPR last "${count} - 1")
    set(part all)
    foreach(first RANGE 0 ${last} 8)
      list(SUBLIST arg_SOURCES ${first} 8 sources)
      assay_combine(${name} ${part} ${sources})
      string(APPEND part _others)
    endforeach()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)  # against hangs: a test of one minute takes two if other tests run
  endif()
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 20")  # an emulator is slower
  endif()
  # A test in two programs, one of them nightly, gets two names: ctest applies labels to all tests of the same name.
  set(suffix "")
  if(nightly IN_LIST arg_LABELS)
    set(suffix .at_night)
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_SUFFIX "${suffix}" PROPERTIES TIMEOUT ${arg_TIMEOUT})
  # gtest_discover_tests loses all labels but the first in PROPERTIES.
  set(labels ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
  file(CONFIGURE OUTPUT ${labels} @ONLY CONTENT [[
include("@PROJECT_BINARY_DIR@/long_tests.cmake")
if(EXISTS "@CMAKE_RUNTIME_OUTPUT_DIRECTORY@/@name@")
  label_tests("@arg_LABELS@" ${@name@_TESTS})
else()
  set_tests_properties(@name@_NOT_BUILT PROPERTIES LABELS "@arg_LABELS@")
endif()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels})
  if(nightly IN_LIST arg_LABELS OR weekly IN_LIST arg_LABELS)
    assay_build_at_night(${name})
  endif()
  # The check draws the same values every time (CMakePresets.json); at night they are new ones, ten times as many.
  set(properties "")
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(source ${source} ABSOLUTE)
    if(EXISTS ${source})
      file(STRINGS ${source} found REGEX "RC_GTEST|rc::check")
      list(APPEND properties "${found}")
    endif()
  endforeach()
  if(properties)
    add_test(NAME ${name}.with_random_seeds COMMAND ${name})
    set_tests_properties(${name}.with_random_seeds PROPERTIES
      LABELS nightly TIMEOUT 3600 ENVIRONMENT RC_PARAMS=max_success=1000)
  endif()
  if(sanitize IN_LIST arg_LABELS)
    assay_add_to(assay_sanitize_tests ${name})
  endif()
endfunction()

# assay_add_to(<group> <target>): building the group, a target without sources, also builds the target.
function(assay_add_to group target)
  if(NOT TARGET ${group})
    add_custom_target(${group})
  endif()
  add_dependencies(${group} ${target})
endfunction()

# assay_build_at_night(<target>): for targets that only long tests use.
function(assay_build_at_night target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  assay_add_to(assay_long_tests ${target})
endfunction()
