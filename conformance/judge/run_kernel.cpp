#include "judge/run_kernel.hpp"

#include <utility>

namespace assay::conformance {

void add_note(CaseReport& report, FindingRule rule, const std::string& text) {
  report.findings.push_back({.rule = rule, .text = text});
}

void decide(CaseReport& report, Decision decision, FindingRule finding,
            std::optional<std::string> message) {
  report.findings.push_back(
      {.rule = finding, .text = decision.evidence, .message = std::move(message)});
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
    return Answer{.failure = Decision(Rule::conduct, Ground::died, "phase 1 threw" + what)};
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
    return threw(" something that is not a std::exception");
  }
  return {};
}

Decision not_offered(const std::string& reason) {
  return {Rule::not_offered, "the implementation does not offer this: " + reason};
}

Decision refusal_of(const std::string& question, const std::string& evidence) {
  if (question.empty()) return {Rule::legal_call, Ground::refused, evidence};
  return {Rule::open_question, evidence};
}

namespace {

Ground ground_of(spec::ImplementationFault::Kind kind) {
  switch (kind) {
    case spec::ImplementationFault::Kind::crash:
    case spec::ImplementationFault::Kind::out_of_memory:
      return Ground::died;
    case spec::ImplementationFault::Kind::timeout:
      return Ground::late;
    case spec::ImplementationFault::Kind::inputs_modified:
    case spec::ImplementationFault::Kind::wrote_outside:
    case spec::ImplementationFault::Kind::mode_changed:
      return Ground::wrote_elsewhere;
  }
  throw std::logic_error("ground_of: no such fault");
}

}  // namespace

Decision decision_of(const spec::ImplementationFault& seen, const std::string& where) {
  return {Rule::conduct, ground_of(seen.kind()), where + seen.what()};
}

}  // namespace assay::conformance
