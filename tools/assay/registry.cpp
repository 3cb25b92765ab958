#include "registry.hpp"

#include <memory>

#include "assay/optimized/flash_attention_score_grad.hpp"
#include "assay/optimized/nsa_compress_grad.hpp"
#include "device.hpp"
#include "mutants.hpp"

namespace assay::cli {
namespace {

/// What makes the tiled implementation of Op for a device.
template <class Op>
using Make = std::unique_ptr<spec::Implementation<Op>> (*)(const device::Spec&, optimized::Options);

template <class Op>
ImplementationEntry<Op> tiled(const device::Spec& device, Make<Op> make) {
  return {.name = "optimized-" + device.name,
          .summary = "tiled for a modelled core of " + device.sku,
          .make = [=] { return make(device, {}); },
          .make_threaded =
              [=](std::int64_t threads) {
                return make(device, {.threads = static_cast<int>(threads)});
              }};
}

}  // namespace

Registry own_registry() {
  Registry registry;
  for (const device::Spec& device : {device::a2(), device::a3()}) {
    registry.add(tiled<spec::FlashAttentionScoreGrad>(device, optimized::flash_attention_score_grad));
    registry.add(tiled<spec::NsaCompressGrad>(device, optimized::nsa_compress_grad));
  }
  registry.add(device_command()).add(mutants_command());
  return registry;
}

}  // namespace assay::cli
