#include <algorithm>
#include <string>

#include "assay/optimized/schedules/compress.hpp"
#include "assay/optimized/schedules/planner.hpp"
#include "assay/optimized/schedules/selected.hpp"
#include "benchmarks.hpp"
#include "device_numbers.hpp"

namespace assay::bench {
namespace {

constexpr std::string_view pipes[device::pipe_count] = {"cube_mte2",   "mte1",   "cube", "fixpipe",
                                                        "vector_mte2", "vector", "mte3"};

optimized::schedules::Attention attention_of(bool causal) {
  return {.heads = 8, .heads_kv = 8, .seq_q = 8192, .seq_kv = 8192, .causal = causal};
}

std::string name_of(bool causal) {
  return std::string("bf16 BNSD B1 N8 S8192 D128 ") + (causal ? "causal, " : "dense, ");
}

std::string busiest(const optimized::schedules::Modelled& modelled) {
  const auto at = std::max_element(modelled.busy.begin(), modelled.busy.end());
  return std::string(pipes[at - modelled.busy.begin()]);
}

/// Records the speedup of our fastest schedule over each schedule of the vendor. Also records the
/// upper limit of this speedup, which a schedule would reach if it always kept the L2 cache busy.
void record_limit(Recorder& recorder, const std::string& problem,
                  const std::vector<optimized::schedules::ModelledSchedule>& found,
                  const std::vector<optimized::schedules::ModelledSchedule>& vendors) {
  const auto floor = floor_of(found);
  const Subject subject{"schedules.a2", problem + "least of " + std::to_string(found.size()) +
                                            " schedules, L2 never idle"};
  recorder.modelled(subject, {"l2_bytes", "B"}, floor.l2_bytes);
  recorder.modelled(subject, {"time", "us"}, 1e6 * floor.seconds);
  for (const auto& vendor : vendors) {
    const double seconds = vendor.modelled.seconds;
    recorder.modelled({"schedules.a2", problem + "ours and " + vendor.name}, {"gain", "times"},
                      seconds / found.front().modelled.seconds);
    recorder.modelled({"schedules.a2", problem + "limit and " + vendor.name}, {"gain", "times"},
                      seconds / floor.seconds);
  }
}

/// Records the modelled times of our schedules and of the vendor's schedules, for eight heads in
/// the layout BNSD with S = 8,192.
void record_schedules(Recorder& recorder, bool causal) {
  using namespace optimized::schedules;
  const Attention attention = attention_of(causal);
  const std::vector<ModelledSchedule> found = plans(attention, device::a2());
  const std::vector<ModelledSchedule> vendors = vendor_plans(attention, device::a2());
  std::vector<ModelledSchedule> all = vendors;
  all.push_back(found.front());
  all.back().name = "ours: " + all.back().to_text();
  const std::string problem = name_of(causal);
  for (const ModelledSchedule& plan : all) {
    const Modelled& modelled = plan.modelled;
    const Subject subject{"schedules.a2", problem + plan.name};
    recorder.modelled(subject, {"time", "us"}, 1e6 * modelled.seconds);
    recorder.modelled(subject, {"cube_utilisation", "%"}, 100 * modelled.cube_utilisation);
    recorder.modelled(subject, {"l2_share", "%"}, 100 * modelled.l2_share);
    for (std::size_t pipe = 0; pipe < device::pipe_count; ++pipe)
      recorder.modelled(subject, {std::string(pipes[pipe]) + "_share", "%"},
                        100 * modelled.busy[pipe]);
    recorder.modelled(subject, {"l2_bytes", "B"}, modelled.l2_bytes);
    const Roofline roofline = roofline_of(attention, modelled, device::a2());
    recorder.modelled(subject, {"rate", "TFLOP/s"}, 1e-12 * roofline.reached);
    for (const Roof& roof : {roofline.l2, roofline.hbm}) {
      recorder.modelled(subject, {roof.name + "_intensity", "FLOP/B"}, roof.intensity);
      recorder.modelled(subject, {roof.name + "_roof", "TFLOP/s"}, 1e-12 * roof.roof);
    }
    recorder.modelled(subject, {"launch_and_passes", "us"}, 1e6 * modelled.extra);
  }
  record_limit(recorder, problem, found, vendors);
  const auto search = [&attention] { plans(attention, device::a2()); };
  recorder.samples({"planner.a2", problem + std::to_string(found.size()) + " schedules"},
                   {"search", "s"}, measure_in_turns({search}, 3).front());
}

/// Records the modelled times of our schedule and of the vendor's schedule for an operator other
/// than dense attention. Also records how long the search for our schedule takes.
template <class Problem>
void record_others(Recorder& recorder, const std::string& problem, const Problem& of) {
  const auto found = plans(of, device::a2());
  const auto vendors = vendor_plans(of, device::a2());
  const auto record = [&](const std::string& name, const optimized::schedules::Modelled& m) {
    const Subject subject{"schedules.a2", problem + name};
    recorder.modelled(subject, {"time", "us"}, 1e6 * m.seconds);
    recorder.modelled(subject, {"l2_share", "%"}, 100 * m.l2_share);
    for (std::size_t pipe = 0; pipe < device::pipe_count; ++pipe)
      recorder.modelled(subject, {std::string(pipes[pipe]) + "_share", "%"}, 100 * m.busy[pipe]);
  };
  record("ours: " + found.front().to_text(), found.front().modelled);
  for (const auto& vendor : vendors) {
    record(vendor.name, vendor.modelled);
    recorder.modelled({"schedules.a2", problem + "ours and " + vendor.name}, {"gain", "times"},
                      vendor.modelled.seconds / found.front().modelled.seconds);
  }
  const auto search = [&of] { plans(of, device::a2()); };
  recorder.samples({"planner.a2", problem + std::to_string(found.size()) + " schedules"},
                   {"search", "s"}, measure_in_turns({search}, 3).front());
}

/// Records the modelled times of Native Sparse Attention (NSA) in a model with 27B parameters at
/// 8,192 tokens, and of the compression of its keys. The model has four key heads with 16 query
/// heads each; the block lists select blocks at equal distances.
void record_sparse_attention(Recorder& recorder) {
  using namespace optimized::schedules;
  record_others(recorder, "bf16 selected T8192 N64/4 D192/128 16 x 64, ",
                Selection{.heads_kv = 4,
                          .group = 16,
                          .queries = 8192,
                          .keys = 8192,
                          .count = 16,
                          .head_dim = 192,
                          .head_dim_v = 128,
                          .demand = {{1024, 512}}});
  record_others(recorder, "bf16 compress T8192 N4 D192 32 by 16, ",
                Compression{.heads = 4, .head_dim = 192, .lengths = {8192}});
}

}  // namespace

void modelled_time(Recorder& recorder) {
  for (const bool causal : {false, true}) record_schedules(recorder, causal);
  record_sparse_attention(recorder);
}

void sensitivity(Recorder& recorder) {
  const device::Spec device = device::a2();
  for (const bool causal : {false, true}) {
    const auto fastest = [&](const device::Spec& of) {
      return plans(attention_of(causal), of).front().modelled;
    };
    const auto nominal = fastest(device);
    const Subject subject{"sensitivity.a2",
                          name_of(causal) + "our fastest schedule, busiest " + busiest(nominal)};
    recorder.modelled(subject, {"time", "us"}, nominal.seconds * 1e6);
    for (const Move& move : moves(device)) {
      device::Spec moved = device;
      move.adjust(moved);
      const auto other = fastest(moved);
      std::string what = move.what;
      if (busiest(other) != busiest(nominal)) what += ", busiest " + busiest(other);
      recorder.modelled(subject, {what, "% of time"}, 100 * (other.seconds / nominal.seconds - 1));
    }
  }
}

}  // namespace assay::bench
