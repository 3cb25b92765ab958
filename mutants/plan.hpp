#pragma once

#include <cstdint>

#include "assay/spec/numerics.hpp"
#include "exponential.hpp"

namespace assay::mutants {

enum class TileOrder : std::uint8_t { ascending, descending, shuffled };
/// How the kernel treats masked scores: it skips them, or replaces them by -FLT_MAX as the device
/// does.
enum class MaskedScore : std::uint8_t { skipped, replaced };
/// The type to which the kernel rounds P and dS before the gradient products.
enum class Staging : std::uint8_t { io_type, fp32, bf16 };

/// The choices that a correct kernel may make if it declares them.
struct Plan {
  std::int64_t query_tile = 16, key_tile = 16;
  TileOrder tile_order = TileOrder::ascending;
  Exponential exponential = Exponential::library;
  MaskedScore masked = MaskedScore::skipped;
  Staging staging = Staging::io_type;
  spec::Rounding round_stage = spec::Rounding::rne, round_out = spec::Rounding::rne;
  spec::Origin stats = spec::Origin::given;
  spec::RowTerm delta = spec::RowTerm::given;
  spec::Order order = spec::Order::any;
};

/// The choices (roundings and orders) of the vendor's kernels on Atlas A2, as far as we know. They
/// are assumptions.
inline constexpr Plan ascend_like = {.masked = MaskedScore::replaced,
                                     .round_stage = spec::Rounding::rna,
                                     .round_out = spec::Rounding::rna};
/// The choices (roundings and orders) of the CUDA flash kernels, as far as we know. They are
/// assumptions.
inline constexpr Plan flash_like = {.exponential = Exponential::fused_exp2};

/// Returns the type to which a kernel rounds P and dS (the staging type) if its tensors have the
/// type `io`.
spec::DType staging_type(Staging staging, spec::DType io);

/// Returns the numerics (roundings and summation) that a kernel with this plan declares for tensors
/// of type `io`.
spec::Numerics declaration(const Plan& plan, spec::DType io);

}  // namespace assay::mutants
