#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/numerics.hpp"

namespace assay::conformance {

/// Reference value, proven error of the reference (radius), and tolerance for every judged element
/// of one output.
struct Expected {
  std::string name;
  std::vector<double> value, radius;
  std::vector<float> tau;
  std::vector<std::int64_t> rows;  ///< ascending numbers of `spec::Extents::row`
  std::int64_t dim = 0;
  Certainty certainty = {};  ///< of its elements, without exempt ones
};

/// Says how the kernel gets the inputs. copy: the kernel gets a copy, so that a kernel that writes
/// into its inputs cannot affect later judgements. themselves: the kernel gets the original inputs,
/// because they are large and can be made again.
enum class Borrowing : std::uint8_t { copy, themselves };

/// The data for judging one case numerically that are the same for every kernel. One object can
/// judge any number of outputs.
template <class Op>
class PreparedCase {
 public:
  explicit PreparedCase(Case<Op> c);
  /// Creates a case of track bound (judged with tolerances) with tensors from outside, such as a
  /// file. The judge uses the definition (the high-precision reference) only for rows that need it,
  /// because this is the slowest part of judging.
  PreparedCase(Case<Op> c, typename Op::Inputs inputs);
  ~PreparedCase();
  PreparedCase(PreparedCase&&) noexcept;

  const Case<Op>& judged_case() const;
  /// Makes the inputs in advance, for a kernel with these numerics (declared arithmetic). Errors:
  /// NoExactCase.
  void prepare(const spec::Numerics& numerics);
  /// Returns the time of the constructor and of `prepare` (seconds).
  double seconds() const;
  /// Returns the inputs. In an exact case they depend on the kernel's numerics (declared
  /// arithmetic, such as 16-bit intermediates or fp16 accumulation).
  const typename Op::Inputs& inputs(const spec::Numerics& numerics);

  /// Returns whether a kernel gets the inputs or a copy.
  Borrowing borrowing() const;
  /// Makes the inputs again after a kernel has changed them. Does nothing if the kernel got a copy.
  /// A kernel always gets a copy of tensors from outside.
  void make_again();

  std::vector<Expected> expected(const spec::Numerics& numerics);

  /// Judges the structure, then the exact bits or the error bound, then the controls (outputs that
  /// are wrong on purpose). `outputs` must come from `make_outputs`.
  CaseReport judge(const typename Op::Outputs& outputs, const spec::Numerics& numerics);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns a report with the description of the case only.
template <class Op>
CaseReport blank_report(const Case<Op>& c);

/// Runs a kernel on the case and judges it. Checks unsupported calls, phase 1 (arguments), phase 2
/// (run), guard areas and declared determinism. Repeats statistical failures with fresh seeds.
template <class Op>
CaseReport judge_case(const Case<Op>& c, spec::Implementation<Op>& implementation);
/// Runs a kernel on a prepared case and judges it.
template <class Op>
CaseReport judge_case(PreparedCase<Op>& prepared, spec::Implementation<Op>& implementation);

}  // namespace assay::conformance
