#include "running.hpp"

namespace assay::conformance {

void add_note(CaseReport& report, const std::string& rule, const std::string& text) {
  report.findings.push_back({.rule = rule, .text = text});
}

std::string describe(spec::Status status) {
  return std::to_string(static_cast<std::int32_t>(status)) + " " +
         std::string(spec::to_string(status));
}

std::string not_offered(const std::string& reason) {
  return "the implementation does not offer this: " + reason;
}

Verdict verdict_of(spec::Misconduct::Kind kind) {
  switch (kind) {
    case spec::Misconduct::Kind::crash:
    case spec::Misconduct::Kind::out_of_memory: return Verdict::crash;
    case spec::Misconduct::Kind::timeout: return Verdict::timeout;
    case spec::Misconduct::Kind::inputs_modified:
    case spec::Misconduct::Kind::wrote_outside: return Verdict::nonconformant_structural;
  }
  throw std::logic_error("verdict_of: no such misconduct");
}

}  // namespace assay::conformance
