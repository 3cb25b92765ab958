#pragma once

#include <string>

#include "assay/cli/command.hpp"
#include "assay/cli/registry.hpp"
#include "assay/spec/numerics.hpp"

namespace assay::cli {

/// The numerics that --numerics declares for tensors of type `io`. Errors: UsageError.
template <class Op>
spec::Numerics numerics_value(const std::string& text, spec::DType io) {
  try {
    return spec::numerics_from_text(text, io, Op::name);
  } catch (const std::invalid_argument& error) {
    throw UsageError("--numerics is '" + text + "': " + error.what());
  }
}

/// Checks --numerics. Errors: UsageError if it is invalid for one of the operators.
inline void require_numerics(const std::string& text) {
  spec::for_each_operator([&]<class Op> { numerics_value<Op>(text, spec::DType::bf16); });
}

}  // namespace assay::cli
