# Writes a C++ source with a function that returns the contents of case files. Usage:
# cmake -D ROOT=<repository> -D "FILES=cases/<operator>/<kind>.txt;..." -D OUTPUT=<source>
#   [-D HEADER=<header> -D FUNCTION=<namespace::function>] -P embed_cases.cmake
if(NOT HEADER)
  set(HEADER assay/conformance/plan/case_lines.hpp)
  set(FUNCTION assay::conformance::shipped_case_texts)
endif()
set(source "#include \"${HEADER}\"

#pragma GCC diagnostic ignored \"-Woverlength-strings\"

const std::vector<assay::conformance::CaseText>& ${FUNCTION}() {
  static const std::vector<assay::conformance::CaseText> texts = {
")
foreach(file IN LISTS FILES)
  file(READ "${ROOT}/${file}" text)
  string(APPEND source "{.name = \"${file}\", .text = R\"cases(${text})cases\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "${source}};\n  return texts;\n}\n")
