#include "judge/run_kernel.hpp"

namespace assay::conformance {

void add_note(CaseReport& report, FindingRule rule, const std::string& text) {
  report.findings.push_back({.rule = rule, .text = text});
}

void decide(CaseReport& report, Decision decision, FindingRule finding) {
  add_note(report, finding, decision.evidence);
  report.verdict = std::move(decision);
}

std::string describe(spec::Status status) {
  const std::string code = std::to_string(static_cast<std::int32_t>(status));
  for (const auto& [known, name] : spec::spellings_of<spec::Status>.entries)
    if (known == status) return code + " " + std::string(name);
  return code;
}

Answer answer_of(const std::function<void()>& ask) {
  const auto threw = [](const std::string& what) {
    return Answer{.failure = Decision(Verdict::crash, Rule::conduct, "phase 1 threw" + what)};
  };
  try {
    ask();
  } catch (const spec::Rejected& refusal) {
    return {.refusal = refusal};
  } catch (const spec::ImplementationFault& seen) {
    return {.failure = decision_of(seen, "phase 1: ")};
  } catch (const spec::NotAsked&) {
    throw;
  } catch (const std::exception& failure) {
    return threw(std::string(": ") + failure.what());
  } catch (...) {
    return threw(" something that is no std::exception");
  }
  return {};
}

Decision not_offered(const std::string& reason) {
  return {Rule::not_offered, "the implementation does not offer this: " + reason};
}

Decision refusal_of(const std::string& question, const std::string& evidence) {
  if (question.empty()) return {Verdict::rejected_wrongly, Rule::legal_call, evidence};
  return {Rule::open_question, evidence};
}

namespace {

Verdict verdict_of(spec::ImplementationFault::Kind kind) {
  switch (kind) {
    case spec::ImplementationFault::Kind::crash:
    case spec::ImplementationFault::Kind::out_of_memory:
      return Verdict::crash;
    case spec::ImplementationFault::Kind::timeout:
      return Verdict::timeout;
    case spec::ImplementationFault::Kind::inputs_modified:
    case spec::ImplementationFault::Kind::wrote_outside:
    case spec::ImplementationFault::Kind::mode_changed:
      return Verdict::nonconformant_structural;
  }
  throw std::logic_error("verdict_of: no such fault");
}

}  // namespace

Decision decision_of(const spec::ImplementationFault& seen, const std::string& where) {
  return {verdict_of(seen.kind()), Rule::conduct, where + seen.what()};
}

}  // namespace assay::conformance
