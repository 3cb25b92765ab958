#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/spec/layout.hpp"

namespace assay::conformance {

/// Returns, for each element of `expected`, its index in the contiguous output (row-major,
/// documented shape). Errors: std::invalid_argument if the case does not have this output.
template <class Op>
std::vector<std::int64_t> places_of(const Case<Op>& c, const Expected& expected);

/// Returns the extents of an input with numbered rows, or nothing for other inputs.
template <class Op>
std::optional<spec::Extents> extents_of_input(const typename Op::Problem& problem,
                                              std::string_view name);

}  // namespace assay::conformance
