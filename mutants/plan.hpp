#pragma once

#include <cstdint>

#include "assay/spec/numerics.hpp"
#include "exponential.hpp"

namespace assay::mutants {

enum class TileOrder : std::uint8_t { ascending, descending, shuffled };
/// How masked scores are treated: skipped, or replaced by -FLT_MAX, as on the device.
enum class MaskedScore : std::uint8_t { skipped, replaced };
/// The type in which P and dS enter the gradient products.
enum class Staging : std::uint8_t { io_type, fp32, bf16 };

/// The choices that a kernel may make and still conform, if it declares them.
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

/// A plan with the choices that we assume for the kernels of Atlas A2.
inline constexpr Plan ascend_like = {.masked = MaskedScore::replaced,
                                     .round_stage = spec::Rounding::rna,
                                     .round_out = spec::Rounding::rna};
/// A plan with the choices that we assume for the CUDA flash kernels.
inline constexpr Plan flash_like = {.exponential = Exponential::fused_exp2};

/// The staging type of a kernel whose tensors are of type `io`.
spec::DType staging_type(Staging staging, spec::DType io);

/// Returns the numerics that a kernel with this plan declares for tensors of type `io`.
spec::Numerics declaration(const Plan& plan, spec::DType io);

}  // namespace assay::mutants
