#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "assay/device/scratchpad.hpp"
#include "assay/optimized/schedules/planner.hpp"

/// Problems and figures that the tests of several schedules use.
namespace assay::optimized::schedules {

/// Returns an attention problem with eight heads in layout BNSD.
inline Attention square(std::int64_t seq, bool causal = false, std::int64_t head_dim = 128) {
  return {.heads = 8,
          .heads_kv = 8,
          .seq_q = seq,
          .seq_kv = seq,
          .head_dim = head_dim,
          .causal = causal};
}

/// Returns a dense attention problem and variants of it. Each variant has one feature, for example
/// rope.
inline std::vector<Attention> variants_of(const Attention& dense) {
  std::vector<Attention> all = {dense};
  const auto add = [&](const auto& change) { change(all.emplace_back(dense)); };
  add([](Attention& a) { a.causal = true; });
  add([](Attention& a) { a.head_dim = 192; });
  add([](Attention& a) {
    a.listed = {{.seq_q = a.seq_q, .seq_kv = a.seq_kv, .before = 200, .after = 9}};
  });
  add([](Attention& a) {
    a.listed = {{.count = 3, .seq_q = a.seq_q, .seq_kv = a.seq_kv}, {.seq_q = 200, .seq_kv = 90}};
  });
  add([](Attention& a) { a.head_dim_rope = 64; });
  add([](Attention& a) { a.head_dim_v = 64; });
  add([](Attention& a) { a.element = {4}; });
  return all;
}

/// Returns a device in which L2 and HBM take no time.
inline device::Spec boundless_memories() {
  device::Spec spec = device::a2();
  spec.rates.l2_bandwidth.value = spec.rates.hbm_bandwidth.value = 1e18;
  return spec;
}

/// Returns in how many cycles a queue is busy.
inline double cycles(const Modelled& modelled, device::Pipe pipe) {
  return modelled.share(pipe) * modelled.seconds * 1.8e9;
}

/// Returns how many bytes of a memory the buffers occupy.
inline std::int64_t occupied(const std::vector<Buffer>& all, const std::string& memory) {
  std::int64_t last = 0;
  for (const Buffer& buffer : all)
    if (buffer.memory == memory) last = std::max(last, (buffer.offset + buffer.size).count);
  return last;
}

}  // namespace assay::optimized::schedules
