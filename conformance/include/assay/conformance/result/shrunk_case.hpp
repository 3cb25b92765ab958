#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/result/verdict.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::conformance {

/// The reason why a search for a smaller failing case ended. smallest: no smaller case fails. runs,
/// seconds, stopped: the limit of runs or seconds was reached, or a user stopped the search.
/// unsteady: a case did not fail each time.
enum class ShrinkEnd : std::uint8_t { smallest, runs, seconds, stopped, unsteady };

/// A failing case, and the smallest failing case to which the search reduced it (its "neighbour").
struct ShrunkCase {
  std::string id, command_line;             ///< of the original failing case
  std::string shrunk;                       ///< the neighbour's replay line
  Verdict verdict = Verdict::tool_failure;  ///< of the neighbour
  std::int64_t runs = 0;                    ///< cases judged on the way
  ShrinkEnd end = ShrinkEnd::smallest;
  std::int64_t again = 0, failed_again = 0;  ///< final runs of the neighbour; failures
  std::string declared;  ///< numerics that would make nearly all conform: "operand_scaled=true"
  std::vector<std::pair<std::string, std::string>> fields = {};  ///< of the neighbour
  std::vector<std::string> failed = {};   ///< result of failed_tensors for the neighbour
  std::vector<std::string> untried = {};  ///< fields that the search had no time to reduce
  /// Judging failing cases again with other declared numerics. Contains three numbers of failing
  /// cases with the same cause: all of them; those that were judged again with the numerics
  /// `declared`; those that then conform.
  std::int64_t of_cause = 0, run_declared = 0, conform_declared = 0;
};

}  // namespace assay::conformance

namespace assay::spec {

template <>
inline constexpr auto spellings_of<conformance::ShrinkEnd> = Spellings<conformance::ShrinkEnd, 5>{{{
    {conformance::ShrinkEnd::smallest, "smallest"},
    {conformance::ShrinkEnd::runs, "runs"},
    {conformance::ShrinkEnd::seconds, "seconds"},
    {conformance::ShrinkEnd::stopped, "stopped"},
    {conformance::ShrinkEnd::unsteady, "unsteady"},
}}};

}  // namespace assay::spec
