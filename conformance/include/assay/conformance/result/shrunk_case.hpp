#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/result/verdict.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::conformance {

/// Why a search ended: nothing smaller fails, which part of the budget was spent, or a case did not
/// fail each time.
enum class ShrinkEnd : std::uint8_t { smallest, runs, seconds, stopped, unsteady };

/// A failing case and its smallest failing neighbour.
struct ShrunkCase {
  std::string id, command_line;             ///< of the case that failed first
  std::string shrunk;                       ///< the neighbour's replay line
  Verdict verdict = Verdict::tool_failure;  ///< of the neighbour
  std::int64_t runs = 0;                    ///< cases judged on the way
  ShrinkEnd end = ShrinkEnd::smallest;
  std::int64_t again = 0, failed_again = 0;  ///< runs of the neighbour at the end; that failed
  std::string declared;  ///< with these numerics, "operand_scaled=true", nearly all would conform
  std::vector<std::pair<std::string, std::string>> fields = {};  ///< of the neighbour
  std::vector<std::string> failed = {};   ///< its tensors that break a limit, as failed_tensors
  std::vector<std::string> untried = {};  ///< fields that the search had no time to reduce
  /// Failing cases of its cause: all, those run again as `declared`, those that conform then.
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
