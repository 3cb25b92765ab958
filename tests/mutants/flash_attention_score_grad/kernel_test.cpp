#include "flash_attention_score_grad/kernel/kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "flash_attention_score_grad/families.hpp"
#include "oracle.hpp"

namespace assay::mutants {
namespace {

/// In fp32 no intermediate result is rounded to a narrower type. So the only error comes from
/// adding about ten terms, and this tolerance is sufficient.
constexpr double tolerance = 1e-4;

/// Returns a problem with few keys and more than 122 queries, because one mutant (changed kernel)
/// loses the rows of dq after row 122.
Geometry many_queries() {
  Geometry geometry = geometries().front();
  Op::Problem& p = geometry.problem;
  p.batch = 1, p.heads_q = 1, p.heads_kv = 1, p.seq_q = 130, p.seq_kv = 4;
  return geometry;
}

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    std::vector<Geometry> known = geometries();
    // Problems with storages of 8 GiB are left out here. Only the judge can test them, because it
    // stores only the bytes that are written.
    std::erase_if(known, [](const Geometry& g) { return g.inputs.all() == spec::Striding::far; });
    known.push_back(many_queries());
    std::vector<Sample> drawn;
    for (const Geometry& geometry : known)
      drawn.push_back(sample_of(geometry, spec::DType::fp32, drawn.size() + 1));
    return drawn;
  }();
  return all;
}

double worst_error_of(const Mutant& mutant, const Sample& sample) {
  spec::FlashAttentionScoreGrad::Outputs outputs = sample.outputs;
  mutant.make()->run(sample.problem, sample.inputs, outputs);
  return worst_error(sample, outputs);
}

/// With large start indices the distances are large, and the bias increases the rounding error of a
/// score in fp32.
double tolerance_of(const Sample& sample) {
  const auto& start = sample.problem.q_start_idx;
  return start.empty() ? tolerance : tolerance * std::max(1.0, 2e-3 * double(start[0]));
}

TEST(Kernel, HealthyVariantsAgreeWithTheFormulasOnEveryGeometry) {
  for (const Mutant& mutant : healthy_kernels())
    for (std::size_t k = 0; k < samples().size(); ++k)
      EXPECT_LT(worst_error_of(mutant, samples()[k]), tolerance_of(samples()[k]))
          << mutant.name << " on geometry " << k;
}

/// This mutant (faulty kernel) is wrong only with more than 32 heads. The common test problems have
/// fewer heads, because more would make every run of all mutants slower.
constexpr std::string_view of_many_heads = "bias_of_head_in_5_bits";

/// Tests injected faults that are visible in fp32 and are detected by comparing outputs, without
/// the judge's other rules.
TEST(Kernel, EveryInjectedFaultChangesTheGradientsOfSomeGeometry) {
  for (const auto& family :
       {mask_mutants(), head_and_scale_mutants(), tile_mutants(), sequence_mutants(),
        sparse_mutants(), dropout_mutants(), pse_mutants(), rope_mutants()})
    for (const Mutant& mutant : family) {
      if (mutant.name == of_many_heads) continue;
      std::vector<double> errors;
      for (const Sample& sample : samples())
        errors.push_back(worst_error_of(mutant, sample) / tolerance_of(sample));
      EXPECT_GT(std::ranges::max(errors), 10) << mutant.name;
    }
}

TEST(Kernel, ABiasOfMoreThan32HeadsShowsThatHeadsAreTakenIn5Bits) {
  Geometry geometry = geometries().front();
  Op::Problem& p = geometry.problem;
  p.heads_q = 40, p.heads_kv = 8;
  p.pse_shift = spec::PseShape::bnss;
  const Sample sample = sample_of(geometry, spec::DType::fp32, 3);
  const std::vector<Mutant> family = pse_mutants();
  const auto mutant = std::ranges::find(family, of_many_heads, &Mutant::name);
  ASSERT_NE(mutant, family.end());
  EXPECT_GT(worst_error_of(*mutant, sample), 10 * tolerance_of(sample));
}

/// The bias has 1024 rows, so only longer sequences show a wrong offset. The common test problems
/// are shorter, because longer ones would make every run of all mutants slower.
TEST(Kernel, CompressedBiasOfAPaddedLayoutHoldsItsLastRows) {
  Geometry geometry = geometries().front();
  geometry.entry_point = spec::FlashEntryPoint::g2;
  Op::Problem& p = geometry.problem;
  p.batch = 1, p.heads_q = 1, p.heads_kv = 1, p.seq_q = p.seq_kv = 1030;
  p.head_dim = p.head_dim_v = 2;
  p.sparse_mode = 2, p.atten_mask = spec::MaskShape::compressed;
  for (const spec::PseShape shape : {spec::PseShape::bnhs, spec::PseShape::one_nhs}) {
    p.pse_shift = shape;
    const Sample sample = sample_of(geometry, spec::DType::fp32, 3);
    for (const Mutant& mutant : healthy_kernels())
      if (mutant.name == "flash_like" || mutant.name == "toeplitz_lookup") {
        EXPECT_LT(worst_error_of(mutant, sample), tolerance) << mutant.name;
      }
  }
}

}  // namespace
}  // namespace assay::mutants
