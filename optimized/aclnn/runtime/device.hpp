#pragma once

#include <cstdint>

#include "aclnn/runtime/kernels.hpp"
#include "aclnn/runtime/memory.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::aclnn {

/// The modelled device: what it is, what it holds, what runs on it.
struct Device {
  /// `orders` declare in which order statistics of TND lie, where it is not upstream's.
  Device(spec::Product modelled, const spec::Numerics& orders);

  /// The name that the runtime gives it; it lives as long as the library.
  const char* soc_name() const;

  spec::Product product;
  spec::Numerics statistics_orders;
  device::Spec spec;
  Memory memory;
  Memory host_memory{static_cast<std::size_t>(PTRDIFF_MAX), "host"};
  Kernels<spec::FlashAttentionScoreGrad> flash_attention_score_grad;
  Kernels<spec::NsaCompressGrad> nsa_compress_grad;
  Kernels<spec::NsaSelectedAttentionGrad> nsa_selected_attention_grad;
};

}  // namespace assay::aclnn
