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

/// Reference value, proven radius and tolerance for every judged element of one output.
struct Expected {
  std::string name;
  std::vector<double> value, radius;
  std::vector<float> tau;
  std::vector<std::int64_t> rows;  ///< ascending numbers of `spec::Extents::row`
  std::int64_t dim = 0;
  Certainty certainty = {};  ///< of its elements, without exempt ones
};

/// How the kernel gets the inputs. copy: a kernel that writes into its inputs cannot affect later
/// judgements. themselves: the inputs are not copied, because they are large and can be made again.
enum class Borrowing : std::uint8_t { copy, themselves };

/// The data for judging one case numerically, as far as they do not depend on the
/// implementation. One object can judge any number of outputs.
template <class Op>
class PreparedCase {
 public:
  explicit PreparedCase(Case<Op> c);
  /// A case of track bound with tensors from outside, such as a file. The judge evaluates the
  /// definition only for rows that need it, because it is the slowest part of judging.
  PreparedCase(Case<Op> c, typename Op::Inputs inputs);
  ~PreparedCase();
  PreparedCase(PreparedCase&&) noexcept;

  const Case<Op>& judged_case() const;
  /// Makes the inputs for a kernel with these numerics in advance. Errors: NoExactCase.
  void prepare(const spec::Numerics& numerics);
  /// Time of the constructor and of `prepare` (seconds).
  double seconds() const;
  /// The inputs. In an exact case they depend on the numerics (staged types, fp16 accumulation
  /// ...).
  const typename Op::Inputs& inputs(const spec::Numerics& numerics);

  /// Says whether a kernel gets the inputs or a copy.
  Borrowing borrowing() const;
  /// Makes the inputs again after a kernel changed them. Does nothing if the kernel got a copy. A
  /// kernel always gets a copy of tensors from outside.
  void make_again();

  std::vector<Expected> expected(const spec::Numerics& numerics);

  /// Judges the structure, then the exact bits or the bound, then the controls. `outputs` must come
  /// from `make_outputs`.
  CaseReport judge(const typename Op::Outputs& outputs, const spec::Numerics& numerics);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A report that contains only the description of the case.
template <class Op>
CaseReport blank_report(const Case<Op>& c);

/// Runs `implementation` on the case and judges it. Checks unsupported calls, phase 1, phase 2,
/// guards and declared determinism. Repeats statistical failures with fresh seeds.
template <class Op>
CaseReport judge_case(const Case<Op>& c, spec::Implementation<Op>& implementation);
/// Judges the case of `prepared` in the same way.
template <class Op>
CaseReport judge_case(PreparedCase<Op>& prepared, spec::Implementation<Op>& implementation);

}  // namespace assay::conformance
