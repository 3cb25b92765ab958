#include "registry.hpp"

#include "assay/optimized/flash_attention_score_grad.hpp"
#include "device.hpp"
#include "mutants.hpp"

namespace assay::cli {
namespace {

using Op = spec::FlashAttentionScoreGrad;

ImplementationEntry<Op> tiled(const device::Spec& device) {
  return {.name = "optimized-" + device.name,
          .summary = "tiled for a modelled core of " + device.sku,
          .make = [device] { return optimized::flash_attention_score_grad(device); },
          .make_threaded =
              [device](std::int64_t threads) {
                return optimized::flash_attention_score_grad(
                    device, {.threads = static_cast<int>(threads)});
              }};
}

}  // namespace

Registry own_registry() {
  Registry registry;
  registry.add(tiled(device::a2())).add(tiled(device::a3()));
  registry.add(device_command()).add(mutants_command());
  return registry;
}

}  // namespace assay::cli
