#include "judge/run_kernel.hpp"

#include <utility>

namespace assay::conformance {

void add_note(CaseReport& report, FindingRule rule, Fact fact) {
  report.findings.push_back({.rule = rule, .fact = std::move(fact)});
}

void decide(CaseReport& report, Decision decision, FindingRule finding,
            std::optional<std::string> message) {
  report.findings.push_back(
      {.rule = finding, .fact = decision.fact, .message = std::move(message)});
  report.verdict = std::move(decision);
}

std::string describe(spec::Status status) {
  const std::string code = std::to_string(static_cast<std::int32_t>(status));
  for (const auto& [known, name] : spec::spellings_of<spec::Status>.entries)
    if (known == status) return code + " " + std::string(name);
  return code;
}

Answer answer_of(const std::function<void()>& ask) {
  const auto threw = [](Fact fact) {
    return Answer{.failure = Decision(Rule::conduct, Ground::died, std::move(fact))};
  };
  try {
    ask();
  } catch (const spec::Rejected& refusal) {
    return {.refusal = refusal};
  } catch (const spec::ImplementationFault& seen) {
    return {.failure = decision_of(seen, FactKind::fault_in_phase_1)};
  } catch (const spec::NotAsked&) {
    throw;
  } catch (const std::exception& failure) {
    return threw({FactKind::phase_1_threw, failure.what()});
  } catch (...) {
    return threw(FactKind::phase_1_threw_no_exception);
  }
  return {};
}

Decision not_offered(const std::string& reason) {
  return {Rule::not_offered, {FactKind::not_offered, reason}};
}

Decision refusal_of(bool is_open, Fact seen) {
  if (!is_open) return {Rule::legal_call, Ground::refused, std::move(seen)};
  return {Rule::open_question, std::move(seen)};
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

Decision decision_of(const spec::ImplementationFault& seen, FactKind kind) {
  return {Rule::conduct, ground_of(seen.kind()), {kind, seen.what()}};
}

}  // namespace assay::conformance
