#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/conformance/case.hpp"
#include "assay/conformance/report.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/numerics.hpp"

namespace assay::conformance {

/// A named way to fill the tensors, in one sentence.
struct InputProfile {
  std::string_view name, sentence;
};
std::span<const InputProfile> profiles();
/// Named contents of user masks: random, causal, dead_rows, ...
std::span<const InputProfile> mask_patterns();
/// Named contents of dropout bits: random, all_kept, all_dropped, last_bits.
std::span<const InputProfile> drop_patterns();

/// The mask that the case passes, strided as its inputs: the pattern `c.mask`, closed outside pre_tokens and
/// next_tokens in mode 0; in mode 5 the prefix alone; or the canonical compressed mask. Nothing where the problem has
/// no mask.
std::optional<spec::Tensor> make_mask(const Case<spec::FlashAttentionScoreGrad>& c);

/// The position bias that the case passes: numbers of its input profile as large as the scores to which they are added,
/// in the shapes of 1024 rows a function of i - j alone, or positive slopes. Nothing where the problem has none.
std::optional<spec::Tensor> make_pse(const Case<spec::FlashAttentionScoreGrad>& c);

/// The dropout bits that the case passes, the pattern `c.drop`: 1 keeps. Bits and bytes behind the last score hold the
/// guard pattern. Nothing where the problem has no drop mask.
std::optional<spec::Tensor> make_drop_mask(const Case<spec::FlashAttentionScoreGrad>& c);

/// The tensors of a track B case, forward included: statistics and attention_in are what a forward of the reference
/// computes, rounded as the operator stores them; every one strided as the case says.
spec::FlashAttentionScoreGrad::Inputs make_inputs(const Case<spec::FlashAttentionScoreGrad>& c);

/// A tensor as `parameter` describes it; its whole storage holds the guard pattern of its type, a NaN for floats.
spec::Tensor guarded_tensor(const spec::Parameter& parameter);

/// Outputs with the case's striding whose storage, viewed elements included, holds a poison pattern.
spec::FlashAttentionScoreGrad::Outputs make_outputs(const Case<spec::FlashAttentionScoreGrad>& c);

/// The rows that are judged, ascending: all, or the first, the last, those at tile edges and random ones.
std::vector<std::int64_t> judged_rows(std::int64_t extent, std::int64_t wanted, std::uint64_t seed);

/// An exact value: numerator * 2^exponent.
struct Dyadic {
  std::int64_t numerator = 0;
  int exponent = 0;
};

/// A case whose correct outputs are known exactly, whatever the order of summation.
struct LatticeCase {
  spec::FlashAttentionScoreGrad::Inputs inputs;
  /// Exact gradients before the final cast, rows x dim in the order of `query_rows` and `key_rows`.
  std::vector<Dyadic> dq, dk, dv;
  std::vector<Dyadic> dq_rope, dk_rope;            ///< empty if head_dim_rope is 0
  std::vector<std::int64_t> query_rows, key_rows;  ///< judged rows, ascending numbers of `spec::Extents::row`
  std::int64_t muted_rows = 0;  ///< live query rows whose dy had to be 0
};

/// Builds the lattice case of track a1 or a2 for kernels of this profile.
/// Errors: std::runtime_error where no lattice exists for the problem, with the reason.
LatticeCase make_lattice(const Case<spec::FlashAttentionScoreGrad>& c,
                         const spec::NumericsProfile& numerics);

/// Everything that judging one value case needs and that no implementation influences. Made once, it judges any
/// number of outputs.
class Examination {
 public:
  explicit Examination(Case<spec::FlashAttentionScoreGrad> c);
  /// Of a case of track bound whose tensors come from elsewhere: judged by the double engine within its proven radius,
  /// without the rows in 113 bits, which would cost more than all the rest.
  Examination(Case<spec::FlashAttentionScoreGrad> c, spec::FlashAttentionScoreGrad::Inputs inputs);
  ~Examination();
  Examination(Examination&&) noexcept;

  const Case<spec::FlashAttentionScoreGrad>& examined() const;
  /// Track A inputs depend on the profile (A2, fp16 accumulation ...).
  const spec::FlashAttentionScoreGrad::Inputs& inputs(const spec::NumericsProfile& numerics);

  struct Expected {
    std::string name;
    std::vector<double> value, radius;
    std::vector<float> tau;
    std::vector<std::int64_t> rows;  ///< flat (b, n, row) ids
    std::int64_t dim = 0;
  };
  /// Reference value, proven radius and tolerance of every judged element.
  std::vector<Expected> expected(const spec::NumericsProfile& numerics);

  /// Structure, track A or B, controls. `outputs` started as `make_outputs`.
  CaseReport judge(const spec::FlashAttentionScoreGrad::Outputs& outputs,
                   const spec::NumericsProfile& numerics);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A report that says only which case it is about.
CaseReport blank_report(const Case<spec::FlashAttentionScoreGrad>& c);

/// Runs `implementation` on the case and judges it: unsupported, phase 1, phase 2, guards, determinism as declared,
/// confirmation of statistical failures on fresh seeds.
CaseReport examine(const Case<spec::FlashAttentionScoreGrad>& c,
                   spec::Implementation<spec::FlashAttentionScoreGrad>& implementation);
/// The same with an examination made before (its case is examined).
CaseReport examine(Examination& examination,
                   spec::Implementation<spec::FlashAttentionScoreGrad>& implementation);

}  // namespace assay::conformance
