#pragma once

#include <utility>
#include <vector>

#include "compression/problem.hpp"
#include "plan/breaking_calls.hpp"
#include "plan/varied_calls.hpp"

namespace assay::conformance::compression {

/// Returns legal calls that together cover every condition of every requirement.
template <class Op>
std::vector<Case<Op>> legal_calls() {
  std::vector<Case<Op>> calls;
  const auto add = [&](spec::DType dtype, std::int64_t size, std::int64_t stride,
                       std::vector<std::int64_t> lengths) {
    Case<Op> c{.track = Track::arguments};
    c.problem = {.dtype = dtype,
                 .heads = 3,
                 .head_dim = 32,
                 .compress_block_size = size,
                 .compress_stride = stride};
    set_lengths(c.problem, std::move(lengths));
    calls.push_back(std::move(c));
  };
  add(spec::DType::bf16, 32, 16, {100, 100});
  add(spec::DType::fp16, 64, 16, {0, 128, 144});
  add(spec::DType::bf16, 48, 32, {200});
  add(spec::DType::fp16, 32, 16, {33, 7, 70});
  return calls;
}

/// Returns illegal calls, for the requirements that a kernel must enforce. Each possible violation
/// of a requirement has one call. This call violates only this requirement and those that it
/// implies. Errors: std::logic_error with the name of a requirement for which no such call was
/// found.
template <class Op>
std::vector<Case<Op>> violation_cases() {
  return breaking_cases<Op>({legal_calls<Op>()});
}

/// Returns numerically judged cases for the variants (other legal forms of the call) of
/// requirements. Each variant has one case for each entry point whose documentation contains the
/// requirement, and one case for another entry point; this last one changes from variant to
/// variant.
template <class Op>
std::vector<Case<Op>> variant_cases() {
  return varied_cases<Op>({legal_calls<Op>()});
}

}  // namespace assay::conformance::compression
