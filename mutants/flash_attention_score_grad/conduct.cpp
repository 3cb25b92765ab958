#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "flash_attention_score_grad/families.hpp"

/// Faults that appear only in some runs. Their state is static: it outlives the kernel object, like
/// the memory of a device.
namespace assay::mutants {
namespace {

/// Returns a hash of a number: mixes its bits.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// A kernel that counts how often it was run.
struct Counting : Kernel {
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    run_number = ++all_runs;
    Kernel::run(problem, inputs, outputs);
  }
  std::uint64_t run_number = 0;

 private:
  static inline std::atomic<std::uint64_t> all_runs = 0;
};

/// Fault: adds to a buffer without clearing it, although it contains the result of the previous
/// call.
struct StateBetweenCalls : Kernel {
  void adjust(AttentionWork& w) const override {
    if (w.dv.values.empty()) return;
    static std::mutex mutex;
    static std::vector<float> left;
    const std::scoped_lock lock(mutex);
    const auto row = w.dv.row(0, 0, 0);
    const std::vector<float> expected(row.begin(), row.end());
    for (std::size_t d = 0; d < std::min(row.size(), left.size()); ++d) row[d] += left[d];
    left = expected;
  }
};

struct OnceInFiftyRuns : Counting {
  void adjust(AttentionWork& w) const override {
    if (run_number % 50 == 0) std::ranges::fill(w.dk.values, 0.0f);
  }
};

/// Fault: two cores add to the same row of dq. One core writes late, so the addition of the other
/// core is lost.
struct DelayedWrite : Counting {
  void add_pair(AttentionWork& w, Query q, std::int64_t j, const RowState& row) const override {
    constexpr std::int64_t tile = 16;
    const std::int64_t rows = w.problem.length_q(q.b), keys = w.problem.length_kv(q.b);
    const auto unlucky = static_cast<std::int64_t>(mixed(run_number) >> 1) % rows;
    const bool is_lost = q.i == unlucky && j / tile == (keys - 1) / tile;
    if (!is_lost) Kernel::add_pair(w, q, j, row);
  }
};

}  // namespace

std::vector<Mutant> conduct_mutants() {
  Mutant seldom = injected<OnceInFiftyRuns>("once_in_50_runs", "dk is 0 in every 50th run");
  seldom.subject = Subject::many_calls;
  return {
      injected<StateBetweenCalls>("state_between_calls",
                                  "a row of dv starts from the values of the previous call"),
      std::move(seldom),
      injected<DelayedWrite>("delayed_write",
                             "race condition: in every run a different query loses the "
                             "contribution of the last tile of keys"),
  };
}

}  // namespace assay::mutants
