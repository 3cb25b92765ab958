#pragma once

#include <cstdint>

#include "aclnn/runtime/kernels.hpp"
#include "aclnn/runtime/memory.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/operators/flash_attention_score.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "assay/spec/operators/nsa_compress.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "assay/spec/operators/nsa_selected_attention.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "assay/spec/operators/sparse_flash_attention_grad.hpp"

namespace assay::aclnn {

/// The modelled device: its specification, its memory, and one implementation per operator.
struct Device {
  /// Makes a modelled device. `orders` declares the memory order of the softmax statistics in
  /// layout TND; if it declares nothing, the order of the vendor's code is used.
  Device(spec::Product modelled, const spec::Numerics& orders);

  /// Returns the device name that the C API reports. The pointer stays valid until the library is
  /// unloaded.
  const char* soc_name() const;

  spec::Product product;
  spec::Numerics statistics_orders;
  device::Spec spec;
  Memory memory;
  Memory host_memory{static_cast<std::size_t>(PTRDIFF_MAX), "host"};
  Kernels<spec::FlashAttentionScore> flash_attention_score;
  Kernels<spec::FlashAttentionScoreGrad> flash_attention_score_grad;
  Kernels<spec::NsaCompress> nsa_compress;
  Kernels<spec::NsaCompressGrad> nsa_compress_grad;
  Kernels<spec::NsaSelectedAttention> nsa_selected_attention;
  Kernels<spec::NsaSelectedAttentionGrad> nsa_selected_attention_grad;
  Kernels<spec::SparseFlashAttentionGrad> sparse_flash_attention_grad;
};

}  // namespace assay::aclnn
