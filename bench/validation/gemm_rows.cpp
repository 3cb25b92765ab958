#include "assay/optimized/schedules/gemm.hpp"
#include "validation/rows.hpp"

namespace assay::bench {
namespace {

using device::Pipe;
using optimized::schedules::Gemm;
using optimized::schedules::Modelled;

constexpr double micro = 1e6;
constexpr const char* contention =
    "same-address conflicts of cores that read one operand together are not modelled";

/// Makes the rows of the validation table that belong to one device.
class Table {
 public:
  Table(device::Spec device, const Adjust& adjust) : device_(std::move(device)) { adjust(device_); }

  Modelled time(const char* row, Kind kind, double microseconds, const Gemm& gemm,
                const char* note = "") {
    const Modelled modelled = model(gemm, device_);
    add({row, kind, microseconds, modelled.seconds * micro, "us", note});
    return modelled;
  }

  void shares(const std::string& row, Kind kind, const Modelled& modelled,
              const std::array<double, 4>& published) {
    const std::array<std::pair<const char*, Pipe>, 4> pipes = {{{"cube", Pipe::cube},
                                                                {"L1->L0", Pipe::mte1},
                                                                {"GM->L1", Pipe::cube_mte2},
                                                                {"out", Pipe::fixpipe}}};
    for (std::size_t k = 0; k < pipes.size(); ++k)
      add({row + " " + pipes[k].first, kind, published[k], 100 * modelled.share(pipes[k].second),
           "%"});
  }

  void busy(const char* row, Kind kind, double microseconds, const Modelled& modelled,
            const char* note = "") {
    add({row, kind, microseconds, modelled.share(Pipe::cube_mte2) * modelled.seconds * micro, "us",
         note});
  }

  Modelled modelled(const Gemm& gemm) const { return model(gemm, device_); }
  void add(ValidationRow row) { rows_.push_back(std::move(row)); }
  void utilisation(const char* row, double published, const Gemm& gemm, double peak,
                   const char* unit, const char* note = "") {
    add({row, Kind::hold_out, published, peak * model(gemm, device_).cube_utilisation, unit, note});
  }

  void append_to(std::vector<ValidationRow>& all) const {
    all.insert(all.end(), rows_.begin(), rows_.end());
  }

 private:
  device::Spec device_;
  std::vector<ValidationRow> rows_;
};

Gemm square(std::int64_t n) { return {.m = n, .n = n, .k = n}; }

void pipes_of_a3(std::vector<ValidationRow>& all, const Adjust& adjust) {
  Table table(device::a3(), adjust);
  struct Published {
    const char* row;
    Kind kind;
    std::int64_t n;
    double time;
    std::array<double, 4> shares;
  };
  for (const Published& of :
       {Published{"G1", Kind::hold_out, 1536, 38.8, {54.5, 42.2, 72.2, 7.7}},
        Published{"G2", Kind::hold_out, 3072, 206.7, {79.0, 62.0, 90.9, 5.8}},
        Published{"G3", Kind::calibration, 6144, 1506, {86.7, 68.1, 95.2, 3.1}},
        Published{"G4", Kind::hold_out, 7680, 3168, {80.6, 63.0, 98.4, 2.4}}})
    table.shares(of.row, of.kind, table.time(of.row, of.kind, of.time, square(of.n)), of.shares);
  table.append_to(all);
}

/// Adds validation rows for matrix products of 4096 x 5120 x 4096 in three tilings on 20 cores.
void tilings(std::vector<ValidationRow>& all, const Adjust& adjust) {
  Table table(device::ascend_910b3(), adjust);
  Gemm gemm = {.m = 4096,
               .n = 5120,
               .k = 4096,
               .base_m = 64,
               .base_n = 64,
               .base_k = 256,
               .step_k = 1,
               .cores = 4};
  table.time("G5 4 cores", Kind::hold_out, 12045, gemm);
  gemm.cores = 20;
  table.busy("G5 20 cores GM->L1", Kind::hold_out, 2452,
             table.time("G5 20 cores", Kind::hold_out, 2532, gemm));
  gemm.base_m = 128, gemm.base_n = 256, gemm.base_k = 64;
  table.busy("G6 single blocks GM->L1", Kind::calibration, 808, table.modelled(gemm));
  gemm.step_k = 4;
  table.busy("G6 large packets GM->L1", Kind::calibration, 591, table.modelled(gemm),
             "the rate is that of row G3");
  table.append_to(all);
}

void shapes_of_a2(std::vector<ValidationRow>& all, const Adjust& adjust) {
  Table table(device::a2(), adjust);
  table.time("G7", Kind::hold_out, 805.6, {.m = 30720, .n = 4096, .k = 1024, .output = {2}});
  table.busy("G8 GM->L1", Kind::hold_out, 69.9,
             table.time("G8", Kind::hold_out, 85.7, {.m = 768, .n = 2048, .k = 6144, .output = {2}},
                        contention),
             contention);
  table.busy(
      "G9 GM->L1", Kind::hold_out, 46.2,
      table.time("G9", Kind::hold_out, 53.4, {.m = 128, .n = 30720, .k = 1024, .output = {2}}));
  table.time("G10", Kind::hold_out, 28.5, {.m = 128, .n = 24576, .k = 512, .output = {2}});
  table.time("G11 pure cube", Kind::calibration, 11.21,
             {.m = 128, .n = 30720, .k = 64, .output = {2}},
             "output taken as fp16; the Fixpipe rate is that of the vendor's model");
  table.append_to(all);
}

void tiles_of_catlass(std::vector<ValidationRow>& all, const Adjust& adjust) {
  Table table(device::ascend_910b3(), adjust);
  Gemm gemm = {.m = 1024, .n = 576, .k = 6144, .cores = 20, .output = {2}};
  table.time("G12 tile 128x256", Kind::hold_out, 72.5, gemm);
  gemm.base_m = 256, gemm.base_n = 128;
  table.time("G12 tile 256x128", Kind::hold_out, 48.6, gemm, contention);
  table.time(
      "G12 M20", Kind::hold_out, 139.6,
      {.m = 20, .n = 6144, .k = 16384, .base_n = 320, .step_k = 2, .cores = 20, .output = {2}},
      "tile not stated: one of 320 columns a core");
  table.time("G12 M160", Kind::hold_out, 35.3,
             {.m = 160, .n = 6144, .k = 2048, .cores = 20, .output = {2}},
             "tile not stated: 128 x 256");
  table.append_to(all);
}

void sustained(std::vector<ValidationRow>& all, const Adjust& adjust) {
  Table b4(device::ascend_910b4(), adjust), a3(device::a3(), adjust), a2(device::a2(), adjust);
  Gemm of_20 = square(8192);
  of_20.cores = 20;
  b4.utilisation("G13 910B4 bf16", 0.9228 * 240, of_20, 245.8, "TFLOP/s");
  b4.utilisation("G13 910B4 fp16", 0.9765 * 240, of_20, 245.8, "TFLOP/s");
  b4.append_to(all);
  a3.utilisation("G13 910C", 309, square(8192), 353.9, "TFLOP/s");
  a3.append_to(all);
  Gemm single = square(8192), quarter = square(8192);
  single.element = {4}, single.step_k = 2;
  quarter.element = {1};
  a2.utilisation("G14", 304.3, square(8192), 353.9, "TFLOP/s", "shape not stated: 8192");
  a2.utilisation("G15 bf16", 328, square(8192), 353.9, "TFLOP/s", "shape not stated: 8192");
  a2.utilisation("G15 fp32", 87, single, 88.5, "TFLOP/s", "shape not stated: 8192");
  a2.utilisation("G16", 80, quarter, 100, "%", "77.4 to 82.7 %; shape taken as 8192");
  a2.append_to(all);
}

}  // namespace

std::vector<ValidationRow> gemm_rows(const Adjust& adjust) {
  std::vector<ValidationRow> all;
  pipes_of_a3(all, adjust);
  tilings(all, adjust);
  shapes_of_a2(all, adjust);
  tiles_of_catlass(all, adjust);
  sustained(all, adjust);
  return all;
}

}  // namespace assay::bench
