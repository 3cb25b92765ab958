# Rules about the text of our own files that no compiler checks. Usage: cmake [-D ROOT=<folder>] -P house.cmake
# Prints every violation and fails if there is one.
cmake_minimum_required(VERSION 3.25)

if(NOT ROOT)
  get_filename_component(ROOT ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
endif()

file(GLOB files LIST_DIRECTORIES false RELATIVE ${ROOT} ${ROOT}/*)
foreach(folder .ci bench cases conformance docs engine fixtures mutants optimized reference spec tests tools)
  file(GLOB_RECURSE found LIST_DIRECTORIES false RELATIVE ${ROOT} ${ROOT}/${folder}/*)
  list(APPEND files ${found})
endforeach()
list(FILTER files EXCLUDE REGEX "\\.(bin|h5|png|pyc)$")  # not text
list(FILTER files EXCLUDE REGEX "\\.(egg-info|mypy_cache)/")  # left by Python's tools
list(LENGTH files number_of_files)
if(number_of_files EQUAL 0)
  message(FATAL_ERROR "no file below ${ROOT}")
endif()

function(report path rule)
  message("${path}: ${rule}")
  set_property(GLOBAL APPEND PROPERTY breaches ${path})
endfunction()

# forbid(<pattern> <rule> [<pattern of allowed lines>]): checks the lines of the current file.
function(forbid pattern rule)
  file(STRINGS ${ROOT}/${path} lines REGEX "${pattern}")
  foreach(line IN LISTS lines)
    if("${ARGN}" STREQUAL "" OR NOT line MATCHES "${ARGN}")
      report("${path}" "${rule}: ${line}")
    endif()
  endforeach()
endfunction()

set(word_start "(^|[^A-Za-z0-9_])")
set(marker "TO[D]O|FIX[M]E")  # in brackets, so that this line does not violate its own rule
string(REPEAT "." 101 too_long)
string(REPEAT "." 161 too_wide)
set(bad_names "utils?|common|helpers?|managers?|misc|data|infos?|new|v2|final")

string(CONCAT algorithms "all_of|any_of|none_of|count|count_if|find|find_if|for_each|equal|mismatch|"
  "copy|copy_if|fill|fill_n|transform|reverse|unique|remove_if|sort|stable_sort|is_sorted|"
  "lower_bound|upper_bound|clamp|max|min|minmax|max_element|min_element")

# The layers of conformance/: a folder may include only from earlier ones.
set(layers result case inputs plan judge attention selection bilinear compression sweep causes report operators adapters pairs)
set(below_result)
set(below_case result)
set(below_inputs result case)
set(below_plan result case inputs)
set(below_judge result case inputs)
set(below_attention result case inputs plan judge)
set(below_selection ${below_attention} attention)
set(below_bilinear ${below_attention})
set(below_compression ${below_attention} bilinear)
set(below_sweep result case inputs plan judge)
set(below_causes result)
set(below_report result case inputs plan judge sweep causes)

# Members that contain sentences, and functions that search or cut a text.
set(sentence_members "(\\.|->|_)(text|evidence|sentence|pattern|what\\(\\)|message|reason)")
set(text_searches "find|rfind|starts_with|ends_with|substr|startswith|endswith|partition|rpartition|removeprefix|removesuffix|split|match|search|startsWith|endsWith|includes|indexOf")

foreach(path IN LISTS files)
  # The page of a command has the name of the command.
  if(path MATCHES "(^|[/_.-])(${bad_names})([/_.-]|$)" AND NOT path MATCHES "^(docs/commands/|tools/new_operator$)")
    report("${path}" "a name says what the thing is")
  endif()
  file(READ ${ROOT}/${path} text)
  if(path MATCHES "\\.md$" AND NOT path MATCHES "^docs/commands/")
    forbid("${too_wide}" "at most 160 columns outside tables" "^ *\\|")
  endif()
  if(path MATCHES "\\.json$")
    continue()  # this file quotes its sources unchanged
  endif()
  if(text MATCHES "[^\t\n -~]")
    report("${path}" "only ASCII characters")
  endif()
  string(REGEX MATCHALL "\n" ends "${text}")
  list(LENGTH ends number_of_lines)
  # A tool writes the lists of hashes.
  if(number_of_lines GREATER 500 AND NOT path MATCHES "^tools/python/requirements/locked/")
    report("${path}" "${number_of_lines} lines, at most 500")
  endif()
  forbid("${word_start}(${marker})" "an open end needs the number of its issue" "(${marker}) *\\(?#[0-9]+")
  # tools/new_operator writes these marks.
  if(path MATCHES "^(cases|conformance|mutants|reference|spec|tests/reference)/")
    forbid("${word_start}EDIT[:.]" "a place of a new operator that is not written yet")
  endif()
  if(path MATCHES "\\.(c|h|cpp|hpp|py)$")
    get_filename_component(room ${path} DIRECTORY)
    list(APPEND rooms "${room}")
    math(EXPR "held_${room}" "0${held_${room}} + 1")
  endif()
  if(path MATCHES "^conformance/(include/assay/conformance/)?(result|case|plan|inputs|judge|selection|bilinear|compression|sweep|causes|report)/")
    forbid("flash_attention|nsa_(selected|compress)" "code that operators share names none of them")
  endif()
  if(path MATCHES "^conformance/(include/assay/conformance/)?(result|case|inputs|plan|judge|attention|selection|bilinear|compression|sweep|causes|report)/")
    set(above ${layers})
    list(REMOVE_ITEM above ${CMAKE_MATCH_2} ${below_${CMAKE_MATCH_2}})
    list(JOIN above "|" above)
    forbid("# *include *[\"<](\\.\\./)*(assay/conformance/)?(${above})/" "an arrow that points back")
  endif()
  if(path MATCHES "^conformance/(include/assay/conformance/)?operators/([a-z_]+)(/|\\.hpp$)")
    forbid("#include \"(assay/conformance/)?operators/" "an operator's room includes no other one's"
           "operators/${CMAKE_MATCH_2}[./]")
  endif()
  # Facts are data. Only these places write the sentences of findings and decisions, and nobody reads a sentence back.
  # Adapters have texts of their own. A user may search the text of a case; the system's words and replay lines may be read.
  if(path MATCHES "^(conformance|mutants|tools/assay)/.*\\.[ch]pp$" AND NOT path MATCHES "^conformance/(include/assay/conformance/)?(report|adapters)/|^conformance/result/(printable|decision)\\.cpp$")
    forbid("([Ff]inding[a-z_]*(\\([^)]*\\)|\\[[^]]*\\])*|worst_at|\\.back\\(\\)|\\.front\\(\\))(\\.|->)text *\\+?=[^=]|(\\.|->)evidence *\\+?=[^=]|\\.rule = .*\\.text = |FactKind::quoted, *(std::string\\()?\""
           "conformance/report writes the sentences of results")
  endif()
  if(path MATCHES "^(conformance|engine|fixtures|mutants|optimized|reference|spec|tools)/.*\\.([ch]pp|py|ts)$")
    forbid("${sentence_members}(\\.|->)(${text_searches})\\(|(${text_searches})\\([^\"()]*\"[^\"]*[a-z]+ [^\"]*[a-z][^\"]*\"|\"[a-z]+ [a-z ]+\" (not )?in "
           "no program reads a sentence that another part wrote" "searched\\.text|c\\.text|- tmpfs|No such file or directory|assay run ")
  endif()
  if(path MATCHES "\\.(c|h|cpp|hpp)$")
    forbid("${too_long}" "at most 100 columns")  # this also covers lines that tools/format cannot break
  endif()
  if(NOT path MATCHES "\\.[ch]pp$")
    continue()
  endif()
  # Allows attributes that not every compiler has.
  forbid("^ *# *define" "no macros of our own")
  forbid("[Nn]ot implemented|[Pp]laceholder" "no stubs")
  # Only this file starts and ends the processes between judge and worker.
  if(path MATCHES "^(spec|reference|engine|optimized|fixtures|conformance|mutants)/" AND NOT path STREQUAL "conformance/adapters/process/containment.cpp")
    forbid("std::(cout|cerr|clog)|fmt::print|${word_start}(std::)?(f?printf|puts|abort|_?exit|quick_exit|terminate) *\\("
           "libraries do not print, exit or abort")
  endif()
  # Only one table maps rules to verdicts. A report that is read has its own.
  if(path MATCHES "^(conformance|mutants|tools)/" AND NOT path MATCHES "^conformance/(result/decision\\.cpp|report/json_fields\\.hpp)$")
    forbid("Decision::recorded" "a rule and a ground give a verdict, nothing else")
  endif()
  # The precompiled header of most builds hides a missing include; the fuzzing build has no such header.
  if(NOT text MATCHES "#include <algorithm>")
    forbid("${word_start}std::(ranges::)?(${algorithms})[(<]|std::ranges::move" "takes <algorithm>, and includes it")
  endif()
  if(path MATCHES "\\.hpp$")
    forbid("^ *using namespace" "no using namespace in headers")
    if(NOT text MATCHES "^#pragma once\n")
      report("${path}" "begins with #pragma once")
    endif()
  endif()
endforeach()

list(REMOVE_DUPLICATES rooms)
foreach(room IN LISTS rooms)
  if(${held_${room}} GREATER 25)
    report("${room}" "${held_${room}} sources in one folder, at most 25")
  endif()
endforeach()

get_property(breaches GLOBAL PROPERTY breaches)
list(LENGTH breaches number_of_breaches)
if(number_of_breaches GREATER 0)
  message(FATAL_ERROR "${number_of_breaches} breaches in ${number_of_files} files")
endif()
message("${number_of_files} files keep the rules")
