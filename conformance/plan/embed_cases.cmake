# Writes a C++ source with the contents of the files in cases/. Usage:
# cmake -D ROOT=<repository> -D "FILES=cases/<operator>/<kind>.txt;..." -D OUTPUT=<source>
#   -P embed_cases.cmake
set(source [[
#include "assay/conformance/plan/case_lines.hpp"

#pragma GCC diagnostic ignored "-Woverlength-strings"

const std::vector<assay::conformance::CaseText>& assay::conformance::shipped_case_texts() {
  static const std::vector<CaseText> texts = {
]])
foreach(file IN LISTS FILES)
  file(READ "${ROOT}/${file}" text)
  string(APPEND source "{.name = \"${file}\", .text = R\"cases(${text})cases\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "${source}};\n  return texts;\n}\n")
