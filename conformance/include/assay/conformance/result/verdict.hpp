#pragma once

#include <cstdint>

#include "assay/spec/text_enum.hpp"

namespace assay::conformance {

/// The judge's verdict on one case. docs/verdicts.md explains the names.
enum class Verdict : std::uint8_t {
  conforms,
  conforms_weak,
  rejected_as_specified,
  rejected_other_code,
  not_applicable,
  nonconformant_structural,
  nonconformant_proven,
  nonconformant_statistical,
  statistical_unconfirmed,
  nondeterministic,
  rejected_wrongly,
  accepted_wrongly,
  crash,
  timeout,
  inconclusive,
  vacuous,
  usage_error,
  tool_failure,
};

/// Returns whether the verdict means that output values are wrong.
constexpr bool are_numbers_wrong(Verdict verdict) {
  return verdict == Verdict::nonconformant_structural || verdict == Verdict::nonconformant_proven ||
         verdict == Verdict::nonconformant_statistical;
}

/// Exit codes of the process. The function `contribution` returns the exit code for a single
/// verdict.
enum class ExitCode : int { conformant = 0, nonconformant = 1, usage = 2, not_conclusive = 3 };

constexpr ExitCode contribution(Verdict verdict) {
  if (verdict <= Verdict::not_applicable) return ExitCode::conformant;
  if (verdict <= Verdict::timeout) return ExitCode::nonconformant;
  return verdict == Verdict::usage_error ? ExitCode::usage : ExitCode::not_conclusive;
}

}  // namespace assay::conformance

namespace assay::spec {

template <>
inline constexpr auto spellings_of<conformance::Verdict> = Spellings<conformance::Verdict, 18>{{{
    {conformance::Verdict::conforms, "conforms"},
    {conformance::Verdict::conforms_weak, "conforms_weak"},
    {conformance::Verdict::rejected_as_specified, "rejected_as_specified"},
    {conformance::Verdict::rejected_other_code, "rejected_other_code"},
    {conformance::Verdict::not_applicable, "not_applicable"},
    {conformance::Verdict::nonconformant_structural, "nonconformant_structural"},
    {conformance::Verdict::nonconformant_proven, "nonconformant_proven"},
    {conformance::Verdict::nonconformant_statistical, "nonconformant_statistical"},
    {conformance::Verdict::statistical_unconfirmed, "statistical_unconfirmed"},
    {conformance::Verdict::nondeterministic, "nondeterministic"},
    {conformance::Verdict::rejected_wrongly, "rejected_wrongly"},
    {conformance::Verdict::accepted_wrongly, "accepted_wrongly"},
    {conformance::Verdict::crash, "crash"},
    {conformance::Verdict::timeout, "timeout"},
    {conformance::Verdict::inconclusive, "inconclusive"},
    {conformance::Verdict::vacuous, "vacuous"},
    {conformance::Verdict::usage_error, "usage_error"},
    {conformance::Verdict::tool_failure, "tool_failure"},
}}};

}  // namespace assay::spec
