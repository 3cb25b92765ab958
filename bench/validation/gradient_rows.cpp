#include "assay/optimized/schedules/gradient.hpp"
#include "validation/rows.hpp"

namespace assay::bench {
namespace {

using optimized::schedules::Attention;
using optimized::schedules::basic;
using optimized::schedules::Forward;
using optimized::schedules::Modelled;
using optimized::schedules::Round;
using optimized::schedules::same_ab;

/// The device on which the published profile was made: 24 cores at 1650 MHz, L2 at the same clock.
device::Spec profiled(const Adjust& adjust) {
  device::Spec device = device::a2();
  adjust(device);
  const double pace = 1.65e9 / device.cores.clock.value;
  device.cores.clock.value *= pace;
  device.rates.l2_bandwidth.value *= pace;
  return device;
}

/// Adds rows for a published profile of a training run. The profile does not contain shape, mask
/// and layout. Shape and mask are inferred. The layout is unknown, so the function adds rows for
/// several layouts: for each of the vendor's two kernels, the layouts for which the vendor uses it.
void training_profile(std::vector<ValidationRow>& all, const Adjust& adjust) {
  const device::Spec device = profiled(adjust);
  for (const bool causal : {true, false})
    for (const bool packed : {true, false}) {
      const Attention attention = {.heads = 16,
                                   .heads_kv = 8,
                                   .seq_q = 4096,
                                   .seq_kv = 4096,
                                   .causal = causal,
                                   .contiguous = !packed};
      const Modelled forward = model(attention, Forward{}, device);
      const Modelled gradient = model(attention, packed ? basic() : same_ab(), device);
      const std::string of = std::string(causal ? " causal" : " dense") +
                             (packed ? ", basic (TND)" : ", sameAB (BNSD)");
      all.push_back(
          {"B1" + of, Kind::hold_out, 2.6, gradient.seconds / forward.seconds, "ratio",
           "published 2.56 to 2.64; layout unknown; changes of format and masks of the vector "
           "cores are not modelled"});
      const char* range = "shape inferred: range only, causal blocks may have been computed";
      all.push_back({"B2 forward" + of, Kind::context, 875, 1e6 * forward.seconds, "us", range});
      all.push_back({"B2" + of, Kind::context, 2265, 1e6 * gradient.seconds, "us", range});
    }
}

/// Adds rows for the speedup of the layout BNSD over BSH with heads of 64 channels (scene 2 of the
/// published case study).
void layout_gain(std::vector<ValidationRow>& all, const Adjust& adjust) {
  device::Spec device = device::a2();
  adjust(device);
  Attention scene = {.heads = 120,
                     .heads_kv = 120,
                     .seq_q = 9216,
                     .seq_kv = 9216,
                     .head_dim = 64,
                     .contiguous = false};
  const auto moved = [](const Modelled& m) { return m.share(device::Pipe::cube_mte2) * m.seconds; };
  const Modelled before = model(scene, same_ab(), device);
  scene.contiguous = true;
  const Modelled after = model(scene, same_ab(), device);
  all.push_back(
      {"B3 layout, GM->L1", Kind::hold_out, 2, moved(before) / moved(after), "times",
       "the kernel of the study is older than the modelled one: all of its reads had rows of one "
       "head, here P and dS are adjacent in both layouts"});
  all.push_back({"B3 layout, operator", Kind::hold_out, 1.3, before.seconds / after.seconds,
                 "times", "L2 binds here in both layouts"});
}

}  // namespace

std::vector<ValidationRow> gradient_rows(const Adjust& adjust) {
  std::vector<ValidationRow> all;
  training_profile(all, adjust);
  layout_gain(all, adjust);
  all.push_back(
      {"B3 block", Kind::context, 2, {}, "times", "the model does not contain blocks of 64 rows"});
  all.push_back({"B3 balance", Kind::context, 2, {}, "times", "the count of blocks says it"});
  all.push_back({"B3 alignment",
                 Kind::context,
                 1.45,
                 {},
                 "times",
                 "the model does not contain unaligned workspace rows"});
  all.push_back({"B4", Kind::context, 4160, {}, "token/s", "whole model"});
  all.push_back({"B5", Kind::context, 50, {}, "%", "whole model"});
  return all;
}

}  // namespace assay::bench
