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

/// A forward and its gradient, judged together: the gradient gets what the forward wrote.
namespace assay::conformance {

/// An output of a forward, and the input of the gradient that receives it. The first is the output
/// that the gradient differentiates, the others are saved for the gradient only.
struct SavedValue {
  const char *of_forward, *of_gradient;
};

/// The forward operator that belongs to a gradient. Operators without one have no specialisation.
/// Members: `Forward`, the operator; `entry_point`, which returns the forward's entry point for one
/// of the gradient; `saved`, the SavedValues.
template <class Gradient>
struct ForwardOf;

/// The gradient reads attentionOut and the softmax statistics. u4 has the forward of u1.
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

/// The gradient reads attentionOut and the softmax statistics.
template <>
struct ForwardOf<spec::NsaSelectedAttentionGrad> {
  using Forward = spec::NsaSelectedAttention;
  static spec::SelectedForwardEntryPoint entry_point(spec::SelectedEntryPoint) { return {}; }
  static constexpr SavedValue saved[] = {{"attention_out", "attention_out"},
                                         {"softmax_max", "softmax_max"},
                                         {"softmax_sum", "softmax_sum"}};
};

/// The gradient reads no result of the forward.
template <>
struct ForwardOf<spec::NsaCompressGrad> {
  using Forward = spec::NsaCompress;
  static auto entry_point(spec::NsaCompressGrad::EntryPoint) { return Forward::EntryPoint{}; }
  static constexpr SavedValue saved[] = {{"output", ""}};
};

/// The verdicts on the parts of one pair. A part without a report was not judged.
struct PairReport {
  CaseReport forward;                  ///< all outputs of the forward
  std::vector<std::string> saved;      ///< outputs that only the gradient reads
  std::optional<CaseReport> backward;  ///< compared with the exact gradient at the saved values
  /// Compared with the exact gradient of the exact forward. Missing if the gradient reads no saved
  /// value, or if the two kernels declare different numerics: then no bound holds for both.
  std::optional<CaseReport> end_to_end;
  Fact why_not = {};  ///< why a part was not judged

  /// Returns the wrong parts, in the order of the computation. If only the gradient at the true
  /// values does not conform, the saved values are wrong: each is within its tolerance, but not all
  /// together.
  std::vector<PairPart> wrong() const;
  /// Returns the part to which each tensor of the reports belongs. Leaves out those of
  /// `end_to_end`, which have the names of those of `backward`.
  std::vector<std::pair<std::string, PairPart>> parts() const;
  /// Returns which parts are wrong.
  Fact fact() const;
  /// Says the same in one sentence.
  std::string sentence() const;
  /// Returns the exit code that belongs to the worst verdict.
  ExitCode exit_code() const;
};

/// Returns why the case is not one of a pair: its track is not bound, or the documents of the
/// forward forbid the call. Returns nothing if it is one.
template <class Gradient>
std::optional<std::string> not_a_pair(const Case<Gradient>& c);

/// Runs `forward` on the inputs of a gradient's case and judges its outputs. Then runs `gradient`
/// on these inputs and the saved values, and judges the gradient at the saved and at the true
/// values.
/// Errors: std::invalid_argument if the track of the case is not bound, if the documents of the
/// forward forbid the call, or if the forward declares another memory order of statistics than the
/// case has.
template <class Gradient>
PairReport judge_pair(const Case<Gradient>& c,
                      spec::Implementation<typename ForwardOf<Gradient>::Forward>& forward,
                      spec::Implementation<Gradient>& gradient);

/// Judges a pair, and joins the reports on its parts to one report on the case of the gradient. A
/// failure that chance could explain counts only if a fresh seed repeats it. A pair that cannot be
/// judged is not applicable.
template <class Gradient>
CaseReport judge_pair_as_one(const Case<Gradient>& c,
                             spec::Implementation<typename ForwardOf<Gradient>::Forward>& forward,
                             spec::Implementation<Gradient>& gradient);

}  // namespace assay::conformance
