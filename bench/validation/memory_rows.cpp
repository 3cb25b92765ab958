#include "assay/optimized/schedules/gemm.hpp"
#include "assay/optimized/schedules/stream.hpp"
#include "validation/rows.hpp"

namespace assay::bench {

using optimized::schedules::Gemm;
using optimized::schedules::Stream;

std::vector<ValidationRow> memory_rows(const Adjust& adjust) {
  std::vector<ValidationRow> all;
  device::Spec a2 = device::a2(), b3 = device::ascend_910b3(), b4 = device::ascend_910b4();
  for (device::Spec* device : {&a2, &b3, &b4}) adjust(*device);
  constexpr std::int64_t gemv = std::int64_t{2} * 32768 * 2816, large = std::int64_t{1} << 32;
  all.push_back({"M1", Kind::calibration, 247, 1e6 * model(Stream{.read = {gemv}}, b4).seconds,
                 "us", "calibrates the efficiency of HBM"});
  all.push_back({"M2", Kind::hold_out, 1346,
                 1e-9 * large / model(Stream{.read = {large}}, a2).seconds, "GB/s"});
  const device::Bytes numbers = {std::int64_t{4} * 4096 * 151936};
  const auto change = [&](const device::VectorCost& operation) {
    return 1e3 *
           model(Stream{.read = numbers, .written = numbers, .operation = &operation}, a2).seconds;
  };
  const char* unknown = "type not stated, taken as fp32; the profile's clock is 1650 MHz";
  all.push_back({"M3 exp", Kind::hold_out, 8.0, change(a2.vector.exp), "ms", unknown});
  all.push_back({"M3 cast", Kind::hold_out, 6.0, change(a2.vector.cast_to_16bit), "ms", unknown});
  const auto reused = model(Gemm{.m = 4096, .n = 5120, .k = 4096, .cores = 20}, b3);
  const double bytes = 640.0 * (128 + 256) * 4096 * 2;
  all.push_back({"M4", Kind::calibration, 3406,
                 1e-9 * bytes / (reused.seconds * reused.share(device::Pipe::cube_mte2)), "GB/s",
                 "row G6 with large packets"});
  return all;
}

}  // namespace assay::bench
