#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "assay/conformance/result/verdict.hpp"

namespace assay::conformance {

/// What each verdict means, as 'assay explain' says it; docs/verdicts.md repeats it.
inline constexpr std::array<std::pair<Verdict, std::string_view>, 18> meanings{{
    {Verdict::conforms, "no rule objects, and every control that applies was noticed"},
    {Verdict::conforms_weak,
     "no rule objects, but the case proves little: a control was missed in some tensor or head "
     "(zeros would pass where a gradient is nearly zero), only zeros were due, the numerics are "
     "weak by design, or the kernel reads the statistics of TND in another order than the case "
     "asks and declares none; it earns no coverage"},
    {Verdict::rejected_as_specified,
     "a forbidden call was refused with a status that the documents name"},
    {Verdict::rejected_other_code,
     "a forbidden call was refused with another status, where the documents name none"},
    {Verdict::not_applicable,
     "the implementation does not offer what the case asks (checks of arguments included), no "
     "exact inputs exist for its numerics, a file has statistics in another order than the kernel "
     "declares, or the kernel refused a call that is open or disputed; it earns no coverage"},
    {Verdict::nonconformant_structural,
     "an exact case was missed, a NaN or infinity stands in a wrong place, memory outside the "
     "outputs was overwritten, an input was changed, or a value is not zero where zero is due"},
    {Verdict::nonconformant_proven,
     "an error exceeds the rigorous bound: no kernel with the declared numerics does that"},
    {Verdict::nonconformant_statistical,
     "an error exceeds the probabilistic bound, or the errors are too large on average or lean to "
     "one side, and one of two fresh seeds showed it again"},
    {Verdict::statistical_unconfirmed,
     "the same, but no fresh seeds were tried: the outputs come from a file, or the budget was "
     "spent"},
    {Verdict::nondeterministic, "two runs differ although a fixed order is declared"},
    {Verdict::rejected_wrongly,
     "a legal call was refused, or a forbidden one with a status that contradicts the documents"},
    {Verdict::accepted_wrongly, "a forbidden call was accepted"},
    {Verdict::crash, "the implementation died, threw an exception, or gave a malformed answer"},
    {Verdict::timeout, "the implementation gave no answer within its time"},
    {Verdict::inconclusive,
     "the case could not have detected an error: a control was not noticed, more than 1 % of the "
     "elements are exempt, the reference is not proven closely enough, or the statistics of a file "
     "may be stored in another order"},
    {Verdict::vacuous, "nothing in the case could fail"},
    {Verdict::usage_error, "arguments are wrong, or a file cannot be read or does not fit"},
    {Verdict::tool_failure, "the judge itself failed"},
}};

}  // namespace assay::conformance
