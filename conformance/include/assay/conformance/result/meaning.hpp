#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "assay/conformance/result/verdict.hpp"

namespace assay::conformance {

/// The meaning of each verdict. The command 'assay explain' prints it; docs/verdicts.md repeats it.
inline constexpr std::array<std::pair<Verdict, std::string_view>, 18> meanings{{
    {Verdict::conforms,
     "no rule found a failure, and every control (corrupted outputs) that applies was detected"},
    {Verdict::conforms_weak,
     "no rule found a failure, but a wrong kernel might pass, too: a control (corrupted outputs) "
     "was not detected, all expected values were zeros, the numerics are weak, or the kernel "
     "declares no memory order of the TND statistics and reads them in another order than that of "
     "the case. The case does not count for coverage"},
    {Verdict::rejected_as_specified,
     "a forbidden call was refused with a status that the documents name"},
    {Verdict::rejected_other_code,
     "a forbidden call was refused with an unexpected status, but the documents do not name a "
     "status"},
    {Verdict::not_applicable,
     "the implementation does not support what the case tests (for example checks of "
     "arguments), no exact inputs exist for its numerics, a file has statistics in another "
     "order than the kernel declares, or the kernel refused a call about which the documents "
     "disagree or say nothing; the case does not count for coverage"},
    {Verdict::nonconformant_structural,
     "an exact case has wrong bits, a NaN or infinity is in a wrong place, memory outside the "
     "outputs was overwritten, an input was changed, or a value should be zero and is not"},
    {Verdict::nonconformant_proven,
     "an error exceeds the rigorous bound: no kernel with the declared numerics does that"},
    {Verdict::nonconformant_statistical,
     "an error exceeds the probabilistic bound, or the errors are too large on average or biased, "
     "and one of two fresh seeds showed it again"},
    {Verdict::statistical_unconfirmed,
     "an error exceeds the probabilistic bound, or the errors are too large on average or "
     "biased, but no fresh seeds were tried: the outputs come from a file, or the budget was "
     "spent"},
    {Verdict::nondeterministic, "two runs differ although the kernel declares a fixed order"},
    {Verdict::rejected_wrongly,
     "a legal call was refused, or a forbidden call was refused with a status that contradicts the "
     "documents"},
    {Verdict::accepted_wrongly, "a forbidden call was accepted"},
    {Verdict::crash, "the implementation died, threw an exception, or gave a malformed answer"},
    {Verdict::timeout, "the implementation did not answer within its time"},
    {Verdict::inconclusive,
     "the case could not have detected an error: expected values of an output exceed their "
     "tolerances, but zeros or the negated values would pass in all heads; more than 1 % of the "
     "elements are exempt; the reference is not proven closely enough; or the statistics of a "
     "file may be stored in another order"},
    {Verdict::vacuous, "nothing in the case could fail"},
    {Verdict::usage_error,
     "arguments are wrong, a file cannot be read, or a file does not fit the case"},
    {Verdict::tool_failure, "the judge itself failed"},
}};

}  // namespace assay::conformance
