# Tests that every rule of house.cmake can fail. For each rule there is a folder that violates it.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/README.md "A good file.\n")
file(WRITE ${FOLDER}/spec/new_thing.txt "\n")
string(ASCII 195 169 accent)
file(WRITE ${FOLDER}/spec/accent.txt "caf${accent}\n")
string(REPEAT "line\n" 501 long)
file(WRITE ${FOLDER}/spec/long.txt "${long}")
string(CONCAT marker "TO" "DO")
file(WRITE ${FOLDER}/tools/open_end.cpp "// ${marker} later\n// ${marker}(#12) later\n")
string(REPEAT "a" 98 wide)
file(WRITE ${FOLDER}/spec/wide.cpp "// ${wide}\n//${wide}\n")
file(WRITE ${FOLDER}/mutants/copied.cpp "/// EDIT: faults that users make.\n")
file(WRITE ${FOLDER}/spec/macro.cpp "#define SQUARE(x) ((x) * (x))\n")
file(WRITE ${FOLDER}/spec/stub.cpp "// not implemented\n")
file(WRITE ${FOLDER}/conformance/loud.cpp "void f() { std::printf(\"x\"); }\n")
file(WRITE ${FOLDER}/conformance/quits.cpp "void f() { exit(1); }\n")
file(WRITE ${FOLDER}/tools/loud.cpp "void f() { std::printf(\"x\"); }\n")
file(WRITE ${FOLDER}/spec/open.hpp "#pragma once\nusing namespace std;\n")
file(WRITE ${FOLDER}/spec/sorts.cpp "void f(int* x) { std::ranges::sort(x, x); std::move(x); }\n")
file(WRITE ${FOLDER}/spec/guard.hpp "#ifndef X\n")
file(WRITE ${FOLDER}/conformance/judge/partial.cpp "// of nsa_compress_grad\n")
file(WRITE ${FOLDER}/conformance/attention/open.hpp "#pragma once\n#include \"assay/conformance/operators/a.hpp\"\n")
file(WRITE ${FOLDER}/conformance/compression/open.hpp "#pragma once\n#include \"operators/a/traits.hpp\"\n")
file(WRITE ${FOLDER}/conformance/operators/a/plan/guest.cpp "#include \"operators/a/a.hpp\"\n#include \"operators/b/b.hpp\"\n")
file(WRITE ${FOLDER}/conformance/case/back.hpp "#pragma once\n#include \"assay/conformance/judge/exact.hpp\"\n#include \"case/case.hpp\"\n")
file(WRITE ${FOLDER}/conformance/selection/open.hpp "#pragma once\n#  include <../sweep/sweep.hpp>\n// of nsa_selected_attention\n")
file(WRITE ${FOLDER}/conformance/include/assay/conformance/selection/suite.hpp "#pragma once\n#include \"attention/suite.hpp\"\n")
file(WRITE ${FOLDER}/conformance/attention/upward.hpp "#pragma once\n#include \"assay/conformance/selection/suite.hpp\"\n")
file(WRITE ${FOLDER}/conformance/causes/verdict.cpp "Decision f() { return Decision::recorded(Verdict::pass, {}, {}); }\n")
file(WRITE ${FOLDER}/mutants/verdict.cpp "const auto give = &Decision::recorded;\n")
file(WRITE ${FOLDER}/conformance/result/decision.cpp "Decision f() { return Decision::recorded(Verdict::pass, {}, {}); }\n")
file(WRITE ${FOLDER}/conformance/judge/says.cpp "void f(Finding& finding) { finding.text = \"dq is wrong\"; }\n")
file(WRITE ${FOLDER}/conformance/sweep/quotes.cpp "Fact f() { return {FactKind::quoted, \"dq is wrong\"}; }\n")
file(WRITE ${FOLDER}/tools/assay/reads.cpp "bool f(const Finding& a) { return a.text.starts_with(\"dq\"); }\n")
file(WRITE ${FOLDER}/tools/python/reads.py "forbidden = \"the case breaks \" in str(refusal)\n")
foreach(k RANGE 1 26)
  file(WRITE ${FOLDER}/bench/crowd/file_${k}.py "\n")
endforeach()

execute_process(COMMAND ${CMAKE_COMMAND} -D ROOT=${FOLDER} -P ${CMAKE_CURRENT_LIST_DIR}/house.cmake
                RESULT_VARIABLE status ERROR_VARIABLE output)
foreach(breach
    "spec/new_thing.txt: a name" "spec/accent.txt: only ASCII" "spec/long.txt: 501 lines"
    "tools/open_end.cpp: an open end" "mutants/copied.cpp: a place of a new operator" "spec/macro.cpp: no macros" "spec/stub.cpp: no stubs"
    "conformance/loud.cpp: libraries" "conformance/quits.cpp: libraries" "spec/open.hpp: no using"
    "spec/guard.hpp: begins" "spec/wide.cpp: at most 100 columns: // a" "conformance/judge/partial.cpp: code that operators share"
    "conformance/attention/open.hpp: an arrow that points back"
    "conformance/compression/open.hpp: an arrow that points back"
    "conformance/selection/open.hpp: an arrow that points back[^\n]*sweep.hpp"
    "conformance/selection/open.hpp: code that operators share"
    "conformance/attention/upward.hpp: an arrow that points back[^\n]*selection/suite.hpp"
    "conformance/causes/verdict.cpp: a rule and a ground" "mutants/verdict.cpp: a rule and a ground"
    "conformance/operators/a/plan/guest.cpp: an operator's room[^\n]*b/b.hpp"
    "conformance/case/back.hpp: an arrow that points back[^\n]*exact.hpp"
    "conformance/judge/says.cpp: conformance/report writes" "conformance/sweep/quotes.cpp: conformance/report writes"
    "tools/assay/reads.cpp: no program reads" "tools/python/reads.py: no program reads"
    "spec/sorts.cpp: takes <algorithm>" "bench/crowd: 26 sources" "28 breaches in 56 files")
  if(NOT output MATCHES "${breach}")
    message(FATAL_ERROR "'${breach}' was not found in:\n${output}")
  endif()
endforeach()
if(status EQUAL 0)
  message(FATAL_ERROR "house.cmake must fail")
endif()
