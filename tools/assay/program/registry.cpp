#include "program/registry.hpp"

#include "assay/device/ascend.hpp"
#include "assay/optimized/operators.hpp"
#include "assay/spec/operators.hpp"
#include "program/device.hpp"
#include "program/mutants.hpp"

namespace assay::cli {
namespace {

/// Adds Assay's own tiled implementation of Op, once for every modelled device.
template <optimized::IsTiled Op>
void add_tiled(Registry& registry) {
  constexpr auto make = optimized::Tiled<Op>::make;
  for (const device::Spec& device : {device::a2(), device::a3()})
    registry.add<Op>({.name = "optimized-" + device.name,
                      .summary = "tiled for a modelled core of " + device.sku,
                      .make = [device] { return make(device, {}); },
                      .make_threaded =
                          [device](std::int64_t threads) {
                            return make(device, {.threads = static_cast<int>(threads)});
                          },
                      .in_process = true});
}

/// Adds Assay's own tiled implementation in another host mode (way of computing on this CPU). Its
/// results differ, and not every machine supports every mode.
template <optimized::IsTiled Op>
void add_tiled_in(optimized::HostMode host, Registry& registry) {
  constexpr auto make = optimized::Tiled<Op>::make;
  const std::string mode(spec::to_string(host));
  for (const device::Spec& device : {device::a2(), device::a3()})
    registry.add<Op>(
        {.name = "optimized-" + device.name + "-" + mode,
         .summary = "the same implementation in the host mode " + mode +
                    (optimized::is_available(host) ? "" : ", which this machine does not support"),
         .make = [device, host] { return make(device, {.host = host}); },
         .make_threaded =
             [device, host](std::int64_t threads) {
               return make(device, {.threads = static_cast<int>(threads), .host = host});
             },
         .in_process = true});
}

/// Adds all mutants of Op: kernels with injected faults, and correct variants. 'assay mutants
/// --list' lists them.
template <class Op>
void add_mutants(Registry& registry) {
  for (const auto& mutant : every_mutant<Op>())
    registry.add_unlisted<Op>({.name = implementation_prefix + mutant.name,
                               .summary = mutant.bug,
                               .make = mutant.make,
                               // A kernel variant without argument checks may crash on invalid
                               // arguments, so it runs in its own process.
                               .in_process = mutant.subject != mutants::Subject::arguments});
}

}  // namespace

Registry own_registry() {
  Registry registry;
  spec::for_each_operator([&]<class Op> {
    if constexpr (optimized::IsTiled<Op>) add_tiled<Op>(registry);
    add_mutants<Op>(registry);
  });
  using optimized::HostMode;
  for (const auto host : {HostMode::avx512_bf16, HostMode::amx_bf16, HostMode::fastest})
    add_tiled_in<spec::FlashAttentionScoreGrad>(host, registry);
  registry.add(device_command()).add(mutants_command());
  return registry;
}

}  // namespace assay::cli
