#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/operators/flash_attention_score.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/conformance/operators/nsa_compress.hpp"
#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/conformance/operators/nsa_selected_attention.hpp"
#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/implementation.hpp"

/// Judges a forward kernel and a gradient kernel together: the gradient reads what the forward
/// wrote.
namespace assay::conformance {

/// An output of a forward kernel, and the input of the gradient that receives it. The first
/// SavedValue of an operator is the output that the gradient differentiates. The forward saves the
/// remaining values only for the gradient.
struct SavedValue {
  const char *of_forward, *of_gradient;
};

/// Names the forward operator that belongs to a gradient. A gradient without a forward operator has
/// no specialisation. Members: `Forward`, the operator; `entry_point`, which returns the forward's
/// entry point for an entry point of the gradient; `saved`, the SavedValues.
template <class Gradient>
struct ForwardOf;

/// FlashAttentionScoreGrad reads attentionOut and the softmax statistics of the forward. Its entry
/// points u1 and u4 have the same forward entry point, u1.
template <>
struct ForwardOf<spec::FlashAttentionScoreGrad> {
  using Forward = spec::FlashAttentionScore;
  static spec::FlashForwardEntryPoint entry_point(spec::FlashEntryPoint of_gradient) {
    using spec::FlashEntryPoint, spec::FlashForwardEntryPoint;
    switch (of_gradient) {
      case FlashEntryPoint::g1:
        return FlashForwardEntryPoint::f1;
      case FlashEntryPoint::g2:
        return FlashForwardEntryPoint::f2;
      case FlashEntryPoint::g3:
        return FlashForwardEntryPoint::f3;
      case FlashEntryPoint::u5:
        return FlashForwardEntryPoint::l5;
      case FlashEntryPoint::u1:
      case FlashEntryPoint::u4:
        break;
      case FlashEntryPoint::u2:
        return FlashForwardEntryPoint::l2;
      case FlashEntryPoint::u3:
        return FlashForwardEntryPoint::l3;
    }
    return FlashForwardEntryPoint::l1;
  }
  static constexpr SavedValue saved[] = {{"attention_out", "attention_in"},
                                         {"softmax_max", "softmax_max"},
                                         {"softmax_sum", "softmax_sum"}};
};

/// This gradient reads attentionOut and the softmax statistics of the forward.
template <>
struct ForwardOf<spec::NsaSelectedAttentionGrad> {
  using Forward = spec::NsaSelectedAttention;
  static spec::SelectedForwardEntryPoint entry_point(spec::SelectedEntryPoint) { return {}; }
  static constexpr SavedValue saved[] = {{"attention_out", "attention_out"},
                                         {"softmax_max", "softmax_max"},
                                         {"softmax_sum", "softmax_sum"}};
};

/// This gradient reads no result of the forward.
template <>
struct ForwardOf<spec::NsaCompressGrad> {
  using Forward = spec::NsaCompress;
  static auto entry_point(spec::NsaCompressGrad::EntryPoint) { return Forward::EntryPoint{}; }
  static constexpr SavedValue saved[] = {{"output", ""}};
};

/// The verdicts on the forward and the gradient of one case. If a report is missing, this kernel
/// was not judged.
struct PairReport {
  CaseReport forward;                  ///< all outputs of the forward
  std::vector<std::string> saved;      ///< outputs that only the gradient reads
  std::optional<CaseReport> backward;  ///< compared with the exact gradient at the saved values
  /// The verdict on the gradient, compared with the exact gradient of the exact forward. Missing if
  /// the gradient reads no result of the forward. Also missing if the two kernels declare different
  /// numerics, because no tolerance then applies to both.
  std::optional<CaseReport> end_to_end;
  Fact why_not = {};  ///< why a part was not judged

  /// Returns which of forward, saved values and gradient are wrong, in the order of the
  /// computation. The saved values are wrong if only the comparison with the exact forward fails.
  /// In this situation each saved value is within its tolerance, but together they are not accurate
  /// enough.
  std::vector<PairPart> wrong() const;
  /// Returns for each tensor of the reports the part (forward, saved values or gradient) to which
  /// it belongs. Leaves out the tensors of `end_to_end`, which have the same names as the tensors
  /// of `backward`.
  std::vector<std::pair<std::string, PairPart>> parts() const;
  /// Returns a fact (a statement as data) that says whether forward, saved values or gradient are
  /// wrong.
  Fact fact() const;
  /// Returns a sentence that says whether forward, saved values or gradient are wrong.
  std::string sentence() const;
  /// Returns the exit code for the worst verdict.
  ExitCode exit_code() const;
};

/// Returns the reason why the case cannot be judged as a pair of forward and gradient: its track is
/// not bound (comparison with tolerances), or the documents of the forward forbid the call. Returns
/// nothing if the case can be judged.
template <class Gradient>
std::optional<std::string> not_a_pair(const Case<Gradient>& c);

/// Runs the kernel `forward` on the inputs of a gradient case and judges its outputs. Then runs the
/// kernel `gradient` on these inputs and the outputs of `forward`. Judges the gradient twice:
/// against the exact gradient of the values that `forward` wrote, and against the exact gradient of
/// the exact values. Errors: std::invalid_argument if the track of the case is not bound
/// (comparison with tolerances), if the documents of the forward forbid the call, or if the forward
/// declares another memory order of statistics than the case has.
template <class Gradient>
PairReport judge_pair(const Case<Gradient>& c,
                      spec::Implementation<typename ForwardOf<Gradient>::Forward>& forward,
                      spec::Implementation<Gradient>& gradient);

/// Judges a forward and its gradient, and merges the reports into one report on the gradient's
/// case. A statistical failure counts only if it occurs again with a new random seed. The result is
/// `not_applicable` if the case cannot be judged with a forward.
template <class Gradient>
CaseReport judge_pair_as_one(const Case<Gradient>& c,
                             spec::Implementation<typename ForwardOf<Gradient>::Forward>& forward,
                             spec::Implementation<Gradient>& gradient);

}  // namespace assay::conformance
