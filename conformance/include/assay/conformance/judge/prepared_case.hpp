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

/// Reference value, proven radius and tolerance of every judged element of one output.
struct Expected {
  std::string name;
  std::vector<double> value, radius;
  std::vector<float> tau;
  std::vector<std::int64_t> rows;  ///< ascending numbers of `spec::Extents::row`
  std::int64_t dim = 0;
  Certainty certainty = {};  ///< of its elements; exempt ones are not counted
};

/// What a kernel is given: a copy of the inputs, so that one that writes into it spoils no later
/// one's judgement; or, where they are large and can be made again, the inputs themselves.
enum class Lending : std::uint8_t { copy, themselves };

/// Everything that judging one value case needs and that no implementation influences. Made once,
/// it judges any number of outputs.
template <class Op>
class PreparedCase {
 public:
  explicit PreparedCase(Case<Op> c);
  /// Of a case of track bound whose tensors come from elsewhere: no row is asked of the definition
  /// only to see that it agrees, which would cost more than all the rest.
  PreparedCase(Case<Op> c, typename Op::Inputs inputs);
  ~PreparedCase();
  PreparedCase(PreparedCase&&) noexcept;

  const Case<Op>& judged_case() const;
  /// Makes ahead the inputs of a kernel with these numerics. Errors: NoExactCase.
  void prepare(const spec::Numerics& numerics);
  /// Seconds that making it and `prepare` took.
  double seconds() const;
  /// Inputs of exact cases depend on the numerics (staged types, fp16 accumulation ...).
  const typename Op::Inputs& inputs(const spec::Numerics& numerics);

  /// How a kernel is given them.
  Lending lending() const;
  /// Makes them again after a kernel changed them. Where they came from elsewhere it was given a
  /// copy.
  void make_again();

  std::vector<Expected> expected(const spec::Numerics& numerics);

  /// Structure, exact bits or the bound, controls. `outputs` started as `make_outputs`.
  CaseReport judge(const typename Op::Outputs& outputs, const spec::Numerics& numerics);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A report that says only which case it is about.
template <class Op>
CaseReport blank_report(const Case<Op>& c);

/// Runs `implementation` on the case and judges it: unsupported, phase 1, phase 2, guards,
/// determinism as declared, confirmation of statistical failures on fresh seeds.
template <class Op>
CaseReport judge_case(const Case<Op>& c, spec::Implementation<Op>& implementation);
/// The same with a prepared case made before (its case is judged).
template <class Op>
CaseReport judge_case(PreparedCase<Op>& prepared, spec::Implementation<Op>& implementation);

}  // namespace assay::conformance
