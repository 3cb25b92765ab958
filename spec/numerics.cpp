#include "assay/spec/numerics.hpp"

#include <stdexcept>
#include <string>

#include "assay/spec/operators.hpp"

namespace assay::spec {
namespace {

/// Returns the type to which the kernels of a preset round P and dS before the next matrix product:
/// the type of the tensors. fp32 stays fp32.
DType staged(DType io) { return io; }

Numerics ascend_a2(DType io) {
  return {.stage = staged(io),
          .round_stage = Rounding::rna,
          .round_out = Rounding::rna,
          .overflow = Overflow::either,
          .fused = false};
}

Numerics cuda_flash(DType io) { return {.stage = staged(io), .lse_form = true}; }

Numerics torch_composed(DType io) {
  return {.store_s = io,
          .store_p = io,
          .store_dp = io,
          .stage = staged(io),
          .partials = io,
          .operand_scaled = true,
          .stats = Origin::own,
          .delta = RowTerm::own,
          .fused = false,
          .weak = true};
}

Numerics torch_fp32(DType) { return {.stats = Origin::own, .delta = RowTerm::own, .fused = false}; }

Numerics jax_cpu(DType io) {
  return {.store_dp = io,
          .stage = staged(io),
          .partials = io,
          .stats = Origin::own,
          .delta = RowTerm::own,
          .fused = false};
}

Numerics fp32_staging(DType) { return {}; }

/// Arithmetic of kernels that compute products and sums in fp32, and cast the result once, ties to
/// even.
Numerics plain_sums(DType) { return {.fused = false}; }

Numerics ascend_a2_sums(DType) { return {.overflow = Overflow::either, .fused = false}; }

/// Arithmetic of kernels that round the contribution of each window to the type of the tensors
/// before they add it.
Numerics jax_cpu_sums(DType io) { return {.partials = io, .fused = false}; }

Numerics composed_sums(DType io) {
  return {.stage = staged(io), .partials = io, .fused = false, .weak = true};
}

constexpr NumericsPreset presets[] = {
    {"ascend_a2",
     "Atlas A2/A3 kernels: P and dS are rounded to the type of the tensors, casts round ties away "
     "from zero; kernels without softmax round only at the end (NsaCompress: ties away from zero; "
     "its gradient: ties to even)",
     ascend_a2, ascend_a2_sums},
    {"cuda_flash",
     "flash attention kernels: P and dS are rounded to the type of the tensors, casts round ties "
     "to even, P is computed from the log-sum-exp",
     cuda_flash, plain_sums},
    {"torch_composed_bf16",
     "kernels composed of tensor operations: every intermediate result is rounded to the type of "
     "the tensors; the bounds are so loose that cases do not count as coverage",
     torch_composed, composed_sums},
    {"torch_fp32",
     "kernels composed of tensor operations in fp32; they compute statistics and row term "
     "themselves",
     torch_fp32, plain_sums},
    {"jax_cpu",
     "XLA on a CPU: dP is rounded to the type of the tensors; the kernel computes statistics and "
     "row term itself",
     jax_cpu, jax_cpu_sums},
    {"fp32_staging", "P and dS stay in fp32; only the results are rounded", fp32_staging,
     plain_sums},
};

/// Returns whether kernels of the operator compute a softmax; an empty name means attention.
bool has_softmax(std::string_view operator_name) {
  bool found = true;
  for_each_operator([&]<class Op> {
    if (operator_name == Op::name) found = Op::has_softmax;
  });
  return found;
}

}  // namespace

std::span<const NumericsPreset> numerics_presets() { return presets; }

Numerics numerics_preset(std::string_view name, DType io, std::string_view operator_name) {
  std::string known;
  const bool of_softmax = has_softmax(operator_name);
  for (const auto& preset : presets) {
    if (preset.name == name) {
      Numerics numerics = (of_softmax ? preset.of_scores : preset.of_sums)(io);
      if (preset.of_sums == ascend_a2_sums && operator_name == NsaCompress::name)
        numerics.round_out = Rounding::rna;
      return numerics;
    }
    known += known.empty() ? "" : ", ";
    known += preset.name;
  }
  throw std::invalid_argument("no numerics preset '" + std::string(name) + "': accepted are " +
                              known);
}

}  // namespace assay::spec
