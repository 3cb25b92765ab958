#include "limits.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "composed/fma.hpp"

namespace assay::bench {
namespace {

/// Size of the copied memory (much larger than any cache).
constexpr std::size_t copied_bytes = std::size_t{1} << 28;
constexpr std::int64_t rounds = 2'000'000;

double fma_here() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    return fma_avx512(rounds);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return fma_avx2(rounds);
#endif
  return fma_portable(rounds);
}

void on_every_core(const std::function<void(std::size_t core, std::size_t cores)>& work) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (std::size_t core = 0; core < cores; ++core)
    threads.emplace_back([&, core] { work(core, cores); });
}

}  // namespace

HostLimits::HostLimits() : from_(copied_bytes, 1), to_(copied_bytes, 2) {}

void HostLimits::multiply_add() {
  std::atomic<double> operations = 0;
  on_every_core([&](std::size_t, std::size_t) { operations += fma_here(); });
  operations_ = operations;
}

void HostLimits::copy() {
  on_every_core([this](std::size_t core, std::size_t cores) {
    const std::size_t first = core * copied_bytes / cores, last = (core + 1) * copied_bytes / cores;
    std::copy(from_.data() + first, from_.data() + last, to_.data() + first);
  });
}

std::vector<double> HostLimits::measure(Recorder& recorder, const Subject& subject,
                                        const std::function<void()>& work, double flop,
                                        double bytes, std::size_t runs) {
  const auto seconds =
      measure_in_turns({work, [this] { multiply_add(); }, [this] { copy(); }}, runs);
  record_share(recorder, subject, flop, seconds[0], seconds[1]);
  recorder.host_rate(subject, {"copy_rate", "GB/s"}, 2e-9 * copied_bytes, seconds[2]);
  std::vector<double> of_copy;
  for (std::size_t run = 0; run < runs; ++run)
    of_copy.push_back(100 * bytes / (2.0 * copied_bytes) * seconds[2][run] / seconds[0][run]);
  recorder.samples(subject, {"share_of_copy_rate", "%"}, of_copy);
  return seconds[0];
}

void HostLimits::record_share(Recorder& recorder, const Subject& subject, double flop,
                              const std::vector<double>& seconds,
                              const std::vector<double>& of_peak) const {
  recorder.host_rate(subject, {"fma_peak", "GFLOP/s"}, operations_ * 1e-9, of_peak);
  std::vector<double> shares;
  for (std::size_t run = 0; run < seconds.size(); ++run)
    shares.push_back(100 * flop / operations_ * of_peak[run] / seconds[run]);
  recorder.samples(subject, {"share_of_fma_peak", "%"}, shares);
}

}  // namespace assay::bench
