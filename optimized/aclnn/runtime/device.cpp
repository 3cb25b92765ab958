#include "aclnn/runtime/device.hpp"

#include "assay/optimized/flash_attention_score.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "assay/optimized/nsa_compress.hpp"
#include "assay/optimized/nsa_compress_grad.hpp"
#include "assay/optimized/nsa_selected_attention.hpp"
#include "assay/optimized/nsa_selected_attention_grad.hpp"
#include "assay/optimized/sparse_flash_attention_grad.hpp"

namespace assay::aclnn {

Device::Device(spec::Product modelled, const spec::Numerics& orders)
    : product(modelled),
      statistics_orders(orders),
      spec(modelled == spec::Product::a2 ? device::a2() : device::a3()),
      memory(static_cast<std::size_t>(spec.memories.hbm.value), "device"),
      flash_attention_score(spec, optimized::flash_attention_score),
      flash_attention_score_grad(spec, optimized::flash_attention_score_grad),
      nsa_compress(spec, optimized::nsa_compress),
      nsa_compress_grad(spec, optimized::nsa_compress_grad),
      nsa_selected_attention(spec, optimized::nsa_selected_attention),
      nsa_selected_attention_grad(spec, optimized::nsa_selected_attention_grad),
      sparse_flash_attention_grad(spec, optimized::sparse_flash_attention_grad) {}

const char* Device::soc_name() const {
  return product == spec::Product::a2 ? "Ascend910B2" : "Ascend910_9391";
}

}  // namespace assay::aclnn
