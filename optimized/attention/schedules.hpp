#pragma once

#include <string>
#include <variant>

#include "assay/optimized/schedules/attention.hpp"
#include "assay/spec/attention_problem.hpp"

namespace assay::optimized {

/// Returns the properties of a problem that determine the modelled time of its forward or of its
/// gradient, or the reason why the model does not cover the problem.
std::variant<schedules::Attention, std::string> attention_of(
    const spec::AttentionProblem& problem,
    schedules::Direction direction = schedules::Direction::gradient);

}  // namespace assay::optimized
