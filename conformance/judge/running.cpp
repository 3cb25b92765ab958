#include "judge/running.hpp"

namespace assay::conformance {

void add_note(CaseReport& report, const std::string& rule, const std::string& text) {
  report.findings.push_back({.rule = rule, .text = text});
}

std::string describe(spec::Status status) {
  const std::string code = std::to_string(static_cast<std::int32_t>(status));
  for (const auto& [known, name] : spec::spellings_of<spec::Status>.entries)
    if (known == status) return code + " " + std::string(name);
  return code;
}

Answer answer_of(const std::function<void()>& ask) {
  const auto failed = [](Verdict verdict, const std::string& text) {
    return Answer{.failure = verdict, .text = "phase 1" + text};
  };
  try {
    ask();
  } catch (const spec::Rejected& refusal) {
    return {.refusal = refusal};
  } catch (const spec::Misconduct& seen) {
    return failed(verdict_of(seen.kind()), std::string(": ") + seen.what());
  } catch (const std::exception& failure) {
    return failed(Verdict::crash, std::string(" threw: ") + failure.what());
  } catch (...) {
    return failed(Verdict::crash, " threw something that is no std::exception");
  }
  return {};
}

void settle(CaseReport& report, const std::function<void()>& settle_kernel) {
  try {
    settle_kernel();
  } catch (const spec::Misconduct& seen) {
    add_note(report, "structure", seen.what());
    if (contribution(report.verdict) != ExitCode::nonconformant)
      report.verdict = verdict_of(seen.kind());
  }
}

std::string not_offered(const std::string& reason) {
  return "the implementation does not offer this: " + reason;
}

Verdict verdict_of(spec::Misconduct::Kind kind) {
  switch (kind) {
    case spec::Misconduct::Kind::crash:
    case spec::Misconduct::Kind::out_of_memory:
      return Verdict::crash;
    case spec::Misconduct::Kind::timeout:
      return Verdict::timeout;
    case spec::Misconduct::Kind::inputs_modified:
    case spec::Misconduct::Kind::wrote_outside:
    case spec::Misconduct::Kind::mode_changed:
      return Verdict::nonconformant_structural;
  }
  throw std::logic_error("verdict_of: no such misconduct");
}

}  // namespace assay::conformance
