#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/spec/layout.hpp"

namespace assay::conformance {

/// Where the judged elements of an output lie: for each element of `expected`, in its order, the
/// number of an element of the dense output, row-major in its documented shape.
/// Errors: std::invalid_argument for a name that is no output of the case.
template <class Op>
std::vector<std::int64_t> places_of(const Case<Op>& c, const Expected& expected);

/// Heads and sequences of an input whose rows are numbered; nothing of another one.
template <class Op>
std::optional<spec::Extents> extents_of_input(const typename Op::Problem& problem,
                                              std::string_view name);

}  // namespace assay::conformance
