#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "assay/conformance/judge/exact.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/suite.hpp"
#include "case/part.hpp"
#include "case/user_formula.hpp"
#include "judge/basis.hpp"
#include "judge/certainty.hpp"
#include "judge/decide.hpp"
#include "judge/elements/likeness.hpp"
#include "judge/parts_judge.hpp"
#include "judge/run_kernel.hpp"

namespace assay::conformance {

/// The data of a case that is shared by all kernels that declare the same numerics (arithmetic).
template <class Op>
struct Prepared {
  spec::Numerics numerics;
  Arithmetic arithmetic, of_fp32;
  std::optional<typename Suite<Op>::Exact> exact_case;  ///< tracks exact, exact_staged
  std::optional<typename Suite<Op>::Basis> basis;       ///< for the inputs of these numerics
  std::vector<Expectation> expectations;
  bool is_kept = true;  ///< false: every call makes the expectations again, in parts
  std::optional<std::vector<TileSums>> tile_sums;  ///< made when the first outputs are judged
  std::vector<ControlResult> controls;

  /// Returns the arithmetic (error model of the kernel) for the element type of a tensor.
  const Arithmetic& of(const Expectation& e) const { return e.is_fp32 ? of_fp32 : arithmetic; }
};

template <class Op>
struct PreparedCase<Op>::State {
  Case<Op> judged_case;
  std::optional<typename Op::Inputs> inputs;  ///< track bound: the same inputs for all numerics
  /// Only for cases that compare exact bits (tracks exact and exact_staged): the inputs for each
  /// declaration of numerics (the kernel's arithmetic). They are made before any expected value.
  std::list<std::pair<spec::Numerics, typename Op::Inputs>> exact_inputs;
  bool comes_from_elsewhere = false;
  double seconds = 0;                    ///< time to make the inputs and prepare the case
  std::shared_ptr<Certifier> certifier;  ///< for track bound
  std::list<Prepared<Op>> prepared;

  bool is_exact() const {
    return judged_case.track == Track::exact || judged_case.track == Track::exact_staged;
  }
  const typename Op::Inputs& inputs_of(const spec::Numerics& numerics);
  Prepared<Op>& prepare(const spec::Numerics& numerics);
  void prepare_exact_case(Prepared<Op>& entry);
  void prepare_bound(Prepared<Op>& entry);
  /// Computes the expected values and stores them in `entry`.
  void keep(Prepared<Op>& entry);
  /// Returns null if no high-precision reference exists for these numerics (the kernel's declared
  /// arithmetic).
  std::shared_ptr<Certifier> certifier_of(const Prepared<Op>& entry) const {
    if constexpr (requires { entry.basis->is_certifiable(); })
      if (!entry.basis->is_certifiable()) return nullptr;
    return certifier;
  }
  Decision judge_parts(Prepared<Op>& entry, const typename Op::Outputs& outputs,
                       CaseReport& report);
};

/// A Basis (data for judging a case) that can compute its expected values part by part.
template <class Basis>
concept MadeInParts = requires(Basis& basis, const TakePart& take) {
  { basis.frames() } -> std::same_as<std::vector<Expectation>>;
  basis.each_part(take);
};

template <class Op>
PreparedCase<Op>::PreparedCase(Case<Op> c) : state_(std::make_unique<State>()) {
  const auto start = std::chrono::steady_clock::now();
  state_->judged_case = std::move(c);
  if (state_->judged_case.track == Track::bound) state_->inputs = make_inputs(state_->judged_case);
  state_->seconds = seconds_since(start);
}
template <class Op>
PreparedCase<Op>::PreparedCase(Case<Op> c, typename Op::Inputs inputs)
    : state_(std::make_unique<State>()) {
  state_->judged_case = std::move(c);
  state_->inputs = std::move(inputs);
  state_->comes_from_elsewhere = true;
}
template <class Op>
PreparedCase<Op>::~PreparedCase() = default;
template <class Op>
PreparedCase<Op>::PreparedCase(PreparedCase&&) noexcept = default;

template <class Op>
const Case<Op>& PreparedCase<Op>::judged_case() const {
  return state_->judged_case;
}

template <class Op>
void PreparedCase<Op>::prepare(const spec::Numerics& numerics) {
  const auto start = std::chrono::steady_clock::now();
  state_->inputs_of(numerics);
  state_->seconds += seconds_since(start);
}
template <class Op>
double PreparedCase<Op>::seconds() const {
  return state_->seconds;
}

/// Returns the inputs of the case for these numerics (the kernel's declared arithmetic). Errors:
/// std::logic_error if the case has no inputs.
template <class Op>
const typename Op::Inputs& PreparedCase<Op>::State::inputs_of(const spec::Numerics& numerics) {
  if (inputs) return *inputs;
  if (!is_exact())
    throw std::logic_error("a case of track " + std::string(spec::to_string(judged_case.track)) +
                           " has no inputs that could be judged");
  for (const auto& [known, made] : exact_inputs)
    if (known == numerics) return made;
  return exact_inputs
      .emplace_back(numerics,
                    std::move(Suite<Op>::exact(judged_case, numerics, ExactPart::inputs).inputs))
      .second;
}

template <class Op>
Prepared<Op>& PreparedCase<Op>::State::prepare(const spec::Numerics& numerics) {
  for (Prepared<Op>& entry : prepared)
    if (entry.numerics == numerics) return entry;
  Prepared<Op>& entry =
      prepared.emplace_back(Prepared<Op>{numerics,
                                         Arithmetic(numerics, judged_case.problem.dtype),
                                         Arithmetic(numerics, spec::DType::fp32),
                                         {},
                                         {},
                                         {},
                                         true,
                                         {},
                                         {}});
  try {
    if (is_exact())
      prepare_exact_case(entry);
    else
      prepare_bound(entry);
  } catch (...) {
    prepared.pop_back();
    if (prepared.empty()) certifier = nullptr;  // the certifier may refer to the removed basis
    throw;
  }
  return entry;
}

template <class Op>
void PreparedCase<Op>::State::prepare_exact_case(Prepared<Op>& entry) {
  entry.exact_case = Suite<Op>::exact(judged_case, entry.numerics, ExactPart::all);
  entry.basis.emplace(judged_case, entry.exact_case->inputs, entry.arithmetic);
}

/// Limit of the multiplications in the high-precision reference for one case. Using all of them
/// takes seconds.
constexpr std::int64_t affordable_products = 100'000'000;

/// Returns the number of multiplications that may be spent on comparing one row with the
/// high-precision reference. It is large for a quarter of the cases, selected by the case id. In
/// other cases the row is compared only if this is cheap.
template <class Op>
std::int64_t affordable_row(const Case<Op>& c) {
  const char digit = case_id(command_line(c)).back();
  return digit == '0' || digit == '4' || digit == '8' || digit == 'c' ? 3'000'000 : 30'000;
}

/// Returns null if the operator has no definition (reference in high precision).
template <class Basis>
std::shared_ptr<Certifier> make_certifier(const Basis& basis) {
  auto definition = basis.definition();
  return definition ? std::make_shared<Certifier>(std::move(definition)) : nullptr;
}

template <class Op>
void PreparedCase<Op>::State::prepare_bound(Prepared<Op>& entry) {
  entry.basis.emplace(judged_case, inputs_of(entry.numerics), entry.arithmetic);
  if (!certifier) certifier = make_certifier(*entry.basis);
  if constexpr (MadeInParts<typename Suite<Op>::Basis>) {
    entry.expectations = entry.basis->frames();
    std::int64_t elements = 0;
    for (const Expectation& e : entry.expectations) elements += e.row_count() * e.dim();
    entry.is_kept = elements <= kept_elements;
  }
  if (entry.is_kept) keep(entry);
}

template <class Op>
void PreparedCase<Op>::State::keep(Prepared<Op>& entry) {
  entry.is_kept = true;
  entry.expectations = entry.basis->expectations();
  const auto own = certifier_of(entry);
  if (own && !comes_from_elsewhere)
    own->require_agreement(entry.expectations, affordable_row(judged_case));
  if (own) own->allow(affordable_products);
  for (Expectation& e : entry.expectations) Certifier::certify(own, entry.of(e), e);
  for (const Expectation& e : entry.expectations)
    entry.controls.push_back(judge_controls(e, entry.of(e)));
}

/// Judges the outputs part by part: computes the expected values of one part, then compares the
/// outputs with them.
template <class Op>
Decision PreparedCase<Op>::State::judge_parts(Prepared<Op>& entry,
                                              const typename Op::Outputs& outputs,
                                              CaseReport& report) {
  const auto own = certifier_of(entry);
  if (own) own->allow(affordable_products);
  const auto rows = [&](const Expectation& of, std::span<const std::int64_t> numbers) {
    return entry.basis->values({of.name, of.extents, numbers}, outputs);
  };
  PartsJudge judge(entry.expectations, rows, entry.arithmetic, own);
  if constexpr (MadeInParts<typename Suite<Op>::Basis>)
    entry.basis->each_part([&](Expectation& part) { judge.take(part); });
  entry.controls.clear();
  return judge.finish(comes_from_elsewhere ? 0 : affordable_row(judged_case), report,
                      entry.controls);
}

template <class Op>
const typename Op::Inputs& PreparedCase<Op>::inputs(const spec::Numerics& numerics) {
  return state_->inputs_of(numerics);
}

/// Inputs that are larger than this size (bytes) are not copied.
constexpr std::size_t largest_copy = std::size_t{1} << 25;

template <class Op>
Borrowing PreparedCase<Op>::borrowing() const {
  if (state_->comes_from_elsewhere) return Borrowing::copy;
  const typename Op::Inputs* inputs =
      state_->inputs ? &*state_->inputs : &state_->exact_inputs.front().second;
  std::size_t bytes = 0;
  for (const TensorOf& input : all_tensors(*inputs)) bytes += input.tensor->bytes.size();
  return bytes > largest_copy ? Borrowing::themselves : Borrowing::copy;
}
template <class Op>
void PreparedCase<Op>::make_again() {
  if (borrowing() == Borrowing::copy) return;
  state_->prepared.clear();
  state_->exact_inputs.clear();
  state_->certifier = nullptr;
  if (state_->inputs) state_->inputs = make_inputs(state_->judged_case);
}

template <class Op>
std::vector<Expected> PreparedCase<Op>::expected(const spec::Numerics& numerics) {
  std::vector<Expected> result;
  Prepared<Op>& entry = state_->prepare(numerics);
  if (entry.exact_case) {
    for (const ExactTensor& tensor :
         Suite<Op>::exact_tensors(*entry.exact_case, state_->judged_case.problem))
      result.push_back(expected_of(tensor));
    return result;
  }
  if (!entry.is_kept) state_->keep(entry);
  const auto own = state_->certifier_of(entry);
  if (own) own->allow(affordable_products);
  for (const Expectation& e : entry.expectations) {
    Expected& whole = result.emplace_back(Expected{.name = e.name, .rows = e.rows, .dim = e.dim()});
    each_part(e, [&](Expectation part) {
      if (own) own->settle_casts(entry.of(part), part);
      whole.certainty += part.certainty;
      whole.value.insert(whole.value.end(), part.value.begin(), part.value.end());
      whole.radius.insert(whole.radius.end(), part.radius.begin(), part.radius.end());
      whole.tau.insert(whole.tau.end(), part.tau.begin(), part.tau.end());
    });
  }
  return result;
}

/// If only some rows of a tensor are judged element by element, judges the tile sums (signed sums
/// of 64 rows), which cover all rows.
template <class Op>
Decision judge_tiles(Prepared<Op>& entry, const typename Op::Outputs& outputs, CaseReport& report) {
  // In an exact case, the values that the kernel rounds to a narrower type are ties (halfway
  // between two numbers). All their rounding errors may therefore have the same sign.
  if (!entry.tile_sums) entry.tile_sums = entry.basis->tile_sums(!entry.exact_case);
  Decision decision = no_objection();
  for (const TileSums& sums : *entry.tile_sums) {
    const auto tensor = std::ranges::find(report.tensors, sums.name, &TensorReport::name);
    if (tensor == report.tensors.end()) throw std::logic_error("no report of " + sums.name);
    const auto rows = [&](std::span<const std::int64_t> numbers) {
      return entry.basis->values({sums.name, sums.extents, numbers}, outputs);
    };
    decision = graver(std::move(decision),
                      compare_tiles(sums, rows, entry.arithmetic, *tensor, report.findings));
  }
  return decision;
}

template <class Op>
CaseReport PreparedCase<Op>::judge(const typename Op::Outputs& outputs,
                                   const spec::Numerics& numerics) {
  Prepared<Op>& entry = state_->prepare(numerics);
  const Case<Op>& c = state_->judged_case;
  CaseReport report = blank_report(c);
  report.value_case = true;
  report.findings = entry.basis->check_structure(outputs);
  Decision decision = structure_decision(report.findings);
  const auto consider = [&](Decision other) {
    decision = graver(std::move(decision), std::move(other));
  };
  if (entry.exact_case) {
    Suite<Op>::compare_exact(*entry.exact_case, c.problem, outputs, numerics, report);
    consider(judge_tiles(entry, outputs, report));
    consider(report.verdict);
    consider(exact_control_decision(report));
    name_factors(report);
    conclude(report, std::move(decision));
    return report;
  }
  if (!entry.basis->consistent()) {
    decide(report, {Rule::inconsistent_inputs, FactKind::inconsistent_inputs}, FindingRule::note);
    return report;
  }
  if (!entry.is_kept) consider(state_->judge_parts(entry, outputs, report));
  for (const Expectation& e : entry.expectations) {
    if (!entry.is_kept) break;
    const auto rows = [&](std::span<const std::int64_t> numbers) {
      return entry.basis->values({e.name, e.extents, numbers}, outputs);
    };
    const Decision of_elements =
        compare(e, rows, entry.of(e), report.tensors.emplace_back(), report.findings);
    if (of_elements > Verdict::not_applicable) add_likeness(e, rows, report.findings);
    consider(of_elements);
  }
  // Large cases keep no expectations, so that these rules do not judge them.
  if constexpr (requires { entry.basis->check_part(entry.expectations, outputs, report.findings); })
    if (entry.is_kept)
      consider(entry.basis->check_part(entry.expectations, outputs, report.findings));
  name_factors(report);
  consider(judge_tiles(entry, outputs, report));
  consider(control_decision(entry.controls, report));
  consider(exemption_decision(report));
  if (numerics.weak) consider({Rule::weak_numerics, FactKind::weak_numerics});
  conclude(report, std::move(decision));
  return report;
}

template <class Op>
CaseReport blank_report(const Case<Op>& c) {
  CaseReport report;
  report.operator_name = Op::name;
  report.command_line = command_line(c);
  report.id = case_id(report.command_line);
  report.note = c.note;
  report.fields = field_texts(c);
  for (const auto& [name, value] : items_of_formula(c.variant))
    if (is_number(value)) report.fields.emplace_back("formula." + name, value);
  if (const auto part = part_of(c.part)) {
    report.fields.emplace_back("part.first", std::to_string(part->first));
    report.fields.emplace_back("part.size", std::to_string(part->size()));
  }
  return report;
}

}  // namespace assay::conformance
