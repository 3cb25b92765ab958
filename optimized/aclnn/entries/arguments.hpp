#pragma once

#include <initializer_list>
#include <string_view>
#include <variant>

#include "aclnn/entries/phases.hpp"

namespace assay::aclnn {

/// An argument of phase 1 (the workspace query of an operator call) under its documented name.
struct Argument {
  std::string_view name;
  std::variant<const aclTensor*, const aclIntArray*, const char*, double, std::int64_t> value;
};

/// Runs phase 1 (argument checks and workspace size) for an entry point of the operator.
/// `arguments` does not contain the pointers to the results.
template <class Op>
aclnnStatus phase_1_of(const Phase1& phase, std::initializer_list<Argument> arguments) noexcept;

}  // namespace assay::aclnn
