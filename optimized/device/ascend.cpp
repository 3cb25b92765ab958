#include "assay/device/ascend.hpp"

namespace assay::device {
namespace {

constexpr double kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

constexpr std::string_view ini = "INI platform_config";
constexpr std::string_view adk = "ADK constraints pages";
constexpr std::string_view gemm_model = "NN-CM cycle model";
constexpr std::string_view simulator = "PTO cost model";

constexpr Quantity known(std::string_view name, double value, std::string_view unit,
                         std::string_view source) {
  return {.name = name, .value = value, .unit = unit, .source = source};
}

struct Range {
  double low, high;
};

constexpr Quantity guess(std::string_view name, double value, std::string_view unit, Range range,
                         std::string_view source) {
  return {.name = name,
          .value = value,
          .unit = unit,
          .source = source,
          .assumed = true,
          .low = range.low,
          .high = range.high};
}

Memories memories() {
  return {
      .l1 = known("l1", 512 * kib, "B", ini),
      .l0a = known("l0a", 64 * kib, "B", ini),
      .l0b = known("l0b", 64 * kib, "B", ini),
      .l0c = known("l0c", 128 * kib, "B", ini),
      .ub = known("ub", 192 * kib, "B", ini),
      .l2 = known("l2", 192 * mib, "B", ini),
      .hbm = known("hbm", 64 * gib, "B", ini),
      .l1_alignment = known("l1_alignment", 32, "B", adk),
      .l0_alignment = known("l0_alignment", 512, "B", adk),
      .l0c_alignment = guess("l0c_alignment", 1024, "B", {64, 1024}, "ADK Mmad; ADK overview: 64"),
      .ub_alignment = known("ub_alignment", 32, "B", adk),
  };
}

Rates rates() {
  return {
      .cube_step_16bit = known("cube_step_16bit", 1, "cycle", ini),
      .cube_step_fp32 = known("cube_step_fp32", 2, "cycle", gemm_model),
      .cube_start = guess("cube_start", 6, "cycle", {6, 20}, "PTO (issue), PYP (latency)"),
      .gm_to_l1 = guess("gm_to_l1", 88, "B/cycle", {64, 110}, "calibrated on row G3; NN-CM; INI"),
      .package = guess("package", 3, "cycle", {3, 8}, "calibrated on row G6; NN-CM"),
      .gm_to_l1_start = known("gm_to_l1_start", 210, "cycle", gemm_model),
      .l1_to_l0a = guess("l1_to_l0a", 256, "B/cycle", {256, 512}, "NN-CM, PTO, PYP; INI"),
      .l1_to_l0b = guess("l1_to_l0b", 128, "B/cycle", {128, 256}, "NN-CM, PTO, PYP; INI"),
      .l1_to_l0_start = known("l1_to_l0_start", 26, "cycle", gemm_model),
      .l0c_read = known("l0c_read", 256, "B/cycle", gemm_model),
      .fixpipe_write = known("fixpipe_write", 128, "B/cycle", gemm_model),
      .atomic_collision =
          guess("atomic_collision", 1.0, "factor", {1.0, 1.2}, "ADK practice cases"),
      .atomic_traffic =
          guess("atomic_traffic", 2, "factor", {1, 2}, "no public number; L2 reads and writes"),
      .gm_to_ub = guess("gm_to_ub", 64, "B/cycle", {58, 95}, "INI; PTO; PYP"),
      .gm_to_ub_start = guess("gm_to_ub_start", 300, "cycle", {300, 1400}, "PYP"),
      .ub_to_gm = guess("ub_to_gm", 80, "B/cycle", {64, 109}, "INI; PYP; PTO"),
      .ub_to_gm_start = guess("ub_to_gm_start", 150, "cycle", {150, 300}, "PYP"),
      .l2_bandwidth = guess("l2_bandwidth", 6.3e12, "B/s", {4.8e12, 7e12},
                            "calibrated on row F5 at 32K; ADK; OPT"),
      .hbm_bandwidth = known("hbm_bandwidth", 1.6e12, "B/s", "MSM; CM384"),
      .hbm_efficiency =
          guess("hbm_efficiency", 0.93, "factor", {0.84, 0.93}, "calibrated on row M1; CM384"),
  };
}

constexpr VectorCost cost(std::string_view name, double start, double slope, Range slopes) {
  return {.start = guess(name, start, "cycle", {start, start + 10}, simulator),
          .slope = guess(name, slope, "cycle/256 B", slopes, "PTO; PYP")};
}

VectorCosts vector_costs() {
  return {
      .muls = cost("muls", 6.5, 1, {0.8, 1}),
      .add = cost("add", 5.9, 2.07, {1, 2.5}),
      .sub = cost("sub", 5.9, 2.07, {1, 2.5}),
      .mul = cost("mul", 6.9, 2.13, {1, 2.13}),
      .div = cost("div", 13, 4, {1.96, 4}),
      .exp = cost("exp", 12, 2, {1.79, 2}),
      .sqrt = {.start = guess("sqrt", 13, "cycle", {13, 14}, "PTO; PYP"),
               .slope = known("sqrt", 2, "cycle/256 B", "PTO; PYP")},
      .select = cost("select", 5, 2, {1, 2}),
      .cast_to_16bit = cost("cast_to_16bit", 3, 1.53, {0.93, 1.53}),
      .cast_to_fp32 = cost("cast_to_fp32", 6, 2, {0.93, 2}),
      .row_sum = cost("row_sum", 20, 7, {2, 10}),
      .copy = cost("copy", 1, 1, {0.43, 2}),
      .barrier = guess("barrier", 16, "cycle", {15, 16}, "PTO; PYP"),
  };
}

Overheads overheads() {
  return {
      .handover = guess("handover", 1000, "cycle", {450, 1000}, "PTO fitted model; PYP"),
      .sync_all = guess("sync_all", 1.5e-6, "s", {0.5e-6, 5e-6}, "no public figure"),
      .launch = guess("launch", 6e-6, "s", {3e-6, 20e-6}, "PTO fitted model; CAT"),
      .launch_cube =
          guess("launch_cube", 3.2e-6, "s", {2.4e-6, 3.6e-6}, "MatMulV2, measured on 910B4"),
  };
}

Spec ascend(std::string name, std::string sku, double cube_cores, Quantity clock) {
  Spec spec{.name = std::move(name),
            .sku = std::move(sku),
            .cores = {.cube = known("cube_cores", cube_cores, "core", ini),
                      .vector = known("vector_cores", 2 * cube_cores, "core", ini),
                      .clock = clock},
            .memories = memories(),
            .rates = rates(),
            .vector = vector_costs(),
            .overheads = overheads()};
  // Scales the L2 bandwidth with the number of cores and the clock. The published bandwidth applies
  // to 24 cores at 1.8 GHz.
  const double share = cube_cores * clock.value / (24 * 1.8e9);
  Quantity& l2 = spec.rates.l2_bandwidth;
  l2.value *= share, l2.low *= share, l2.high *= share;
  return spec;
}

}  // namespace

Spec a2() { return ascend("a2", "910B2", 24, known("clock", 1.8e9, "Hz", ini)); }

Spec a3() {
  Spec spec = ascend("a3", "910C die", 24,
                     guess("clock", 1.8e9, "Hz", {1.8e9, 1.85e9}, "MSM, AMLA and PTO; INI: 1.85"));
  spec.overheads.launch_cube = guess("launch_cube", 7.6e-6, "s", {2.4e-6, 7.6e-6},
                                     "MatMulV2, measured on 910C and on 910B4");
  return spec;
}

Spec ascend_910b1() { return ascend("b1", "910B1", 24, known("clock", 1.85e9, "Hz", ini)); }

Spec ascend_910b3() { return ascend("b3", "910B3", 20, known("clock", 1.8e9, "Hz", ini)); }

Spec ascend_910b4() {
  Spec spec =
      ascend("b4", "910B4", 20,
             guess("clock", 1.5e9, "Hz", {1.5e9, 1.6e9}, "INI; advertised speed implies 1.6"));
  spec.memories.l2 = known("l2", 96 * mib, "B", ini);
  spec.memories.hbm = known("hbm", 32 * gib, "B", ini);
  spec.rates.hbm_bandwidth = known("hbm_bandwidth", 0.8e12, "B/s", "MSM; CM384");
  return spec;
}

std::vector<Spec> devices() { return {a2(), a3(), ascend_910b1(), ascend_910b3(), ascend_910b4()}; }

std::vector<Quantity> quantities(const Spec& spec) {
  std::vector<Quantity> all;
  visit_quantities(spec, [&](const Quantity& quantity) { all.push_back(quantity); });
  return all;
}

std::span<const Source> sources() {
  static constexpr Source all[] = {
      {"INI", "platform_config files of CANN 8.1.RC1, one for each device"},
      {"ADK", "documentation of Ascend C (cann/asc-devkit, CANN 9)"},
      {"OPT", "source code and design notes of the operators (cann/ops-transformer)"},
      {"NN-CM", "cycle model in the tiling code of the vendor's matrix products (2025)"},
      {"CAT", "documentation of CATLASS: profiling, tiling, evaluation"},
      {"PTO", "pto-isa: measured performance and cost models"},
      {"PYP", "cost model of pypto for A2 and A3"},
      {"MSM", "device profiles of Huawei's simulator msmodeling"},
      {"CM384", "paper on CloudMatrix384, arXiv 2506.12708"},
      {"AMLA", "paper on AMLA, arXiv 2509.25224"},
      {"row", "a published time that 'assay_bench validation' compares with the model"},
  };
  return all;
}

}  // namespace assay::device
