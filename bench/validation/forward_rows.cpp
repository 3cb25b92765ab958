#include "assay/optimized/schedules/attention.hpp"
#include "validation/rows.hpp"

namespace assay::bench {
namespace {

using optimized::schedules::Attention;
using optimized::schedules::Forward;

/// Tile widths of two forward kernels. Our tiles are 128 x 256, as in a published measurement (row
/// F11 of the validation table); the tiles of the vendor's kernel are 128 x 1024.
constexpr Forward open_kernel = {.columns = 256}, vendor_kernel = {.columns = 1024};

struct Point {
  std::int64_t seq_q, seq_kv;
  double time;
  Kind kind = Kind::hold_out;
  const char* note = "";
};

class Table {
 public:
  explicit Table(const Adjust& adjust) : a2_(device::a2()), a3_(device::a3()) {
    adjust(a2_), adjust(a3_);
  }

  /// Adds validation rows for a forward kernel with one head on device A2.
  void points(const std::string& row, const Forward& kernel, std::initializer_list<Point> all) {
    for (const Point& of : all)
      rows.push_back(
          {row + " " + std::to_string(of.seq_q) + "x" + std::to_string(of.seq_kv), of.kind, of.time,
           1e6 * model(Attention{.seq_q = of.seq_q, .seq_kv = of.seq_kv}, kernel, a2_).seconds,
           "us", of.note});
  }

  /// Adds a validation row for a forward kernel with twelve query heads per key head, on one die of
  /// device A3.
  void long_point(const std::string& row, std::int64_t seq, double milliseconds, Kind kind,
                  const char* note = "") {
    const Attention attention = {.heads = 12, .seq_q = seq, .seq_kv = seq};
    rows.push_back({row + " " + std::to_string(seq), kind, milliseconds,
                    1e3 * model(attention, vendor_kernel, a3_).seconds, "ms", note});
  }

  std::vector<ValidationRow> rows;

 private:
  device::Spec a2_, a3_;
};

}  // namespace

std::vector<ValidationRow> forward_rows(const Adjust& adjust) {
  Table table(adjust);
  constexpr Kind calibration = Kind::calibration, bound = Kind::bound;
  const char* shared =
      "16 cores reach 0.64 of the speed of one, 24 cores in row F1 0.8: not modelled";
  const char* fused = "upper bound of the speed only: the tiles of this kernel are not published";
  const char* fixed = "about 40 us of this kernel's time are spent on any shape";
  table.points("F1", open_kernel,
               {{1024, 1024, 20.96, calibration},
                {2048, 2048, 32.46, calibration},
                {4096, 4096, 88.9},
                {8192, 8192, 292.6},
                {16384, 16384, 909.1},
                {32768, 32768, 3262.6}});
  table.points("F2", vendor_kernel,
               {{1024, 1024, 58.5, bound, fixed},
                {2048, 2048, 70.8, bound, fixed},
                {4096, 4096, 118.3, bound, fixed},
                {8192, 8192, 353.1, bound, fused},
                {16384, 16384, 1118.5, bound, fused},
                {32768, 32768, 3646, bound, fused}});
  table.points(
      "F3", open_kernel,
      {{128, 1024, 19.2, calibration}, {128, 2048, 23.4}, {128, 4096, 38.3}, {128, 8192, 68.8}});
  table.points("F4", open_kernel,
               {{1024, 1024, 19.4},
                {1024, 2048, 26.2},
                {1024, 4096, 43.1},
                {1024, 8192, 76.9},
                {2048, 1024, 23.4},
                {2048, 2048, 36.1, Kind::hold_out, shared},
                {2048, 4096, 59.7, Kind::hold_out, shared},
                {2048, 8192, 107.8, Kind::hold_out, shared}});
  table.long_point("F5", 32768, 37.56, calibration, "calibrates the bandwidth of L2");
  table.long_point("F5", 65536, 149.6, Kind::hold_out);
  table.long_point("F5", 131072, 600.0, Kind::hold_out);
  table.long_point("F6", 32768, 46.64, bound, fused);
  table.long_point("F6", 65536, 185.2, bound, fused);
  table.long_point("F6", 131072, 741.2, bound, fused);
  table.rows.push_back({"F7", Kind::context, 86.8, {}, "%", "MLA decode: no schedule of it here"});
  table.rows.push_back({"F8", Kind::context, 65.4, {}, "%", "MLA prefill: no schedule of it here"});
  table.rows.push_back({"F9", Kind::context, 10.7, {}, "times", "no absolute figure"});
  table.rows.push_back(
      {"F10", Kind::context, 147.9, {}, "us", "the gap to its simulator is unexplained"});
  table.rows.push_back(
      {"F11", calibration, 2488.9, 2488.9, "cycle", "the slope of softmax itself"});
  return table.rows;
}

}  // namespace assay::bench
