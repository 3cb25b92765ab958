#include "program/registry.hpp"

#include "assay/optimized/flash_attention_score_grad.hpp"
#include "assay/optimized/nsa_compress_grad.hpp"
#include "assay/optimized/nsa_selected_attention_grad.hpp"
#include "program/device.hpp"
#include "program/mutants.hpp"

namespace assay::cli {
namespace {

/// How the optimized layer makes its implementation of Op.
template <class Op>
using Maker = std::unique_ptr<spec::Implementation<Op>> (*)(const device::Spec&,
                                                            optimized::Options);

template <class Op>
void add_tiled(Registry& registry, Maker<Op> make) {
  for (const device::Spec& device : {device::a2(), device::a3()})
    registry.add<Op>({.name = "optimized-" + device.name,
                      .summary = "tiled for a modelled core of " + device.sku,
                      .make = [make, device] { return make(device, {}); },
                      .make_threaded =
                          [make, device](std::int64_t threads) {
                            return make(device, {.threads = static_cast<int>(threads)});
                          },
                      .in_process = true});
}

}  // namespace

Registry own_registry() {
  Registry registry;
  add_tiled<spec::FlashAttentionScoreGrad>(registry, optimized::flash_attention_score_grad);
  add_tiled<spec::NsaSelectedAttentionGrad>(registry, optimized::nsa_selected_attention_grad);
  add_tiled<spec::NsaCompressGrad>(registry, optimized::nsa_compress_grad);
  registry.add(device_command()).add(mutants_command());
  return registry;
}

}  // namespace assay::cli
