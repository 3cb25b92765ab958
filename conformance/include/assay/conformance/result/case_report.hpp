#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/conformance/result/decision.hpp"
#include "assay/conformance/result/pattern.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::conformance {

/// The rule that led to a finding. Rules that decide verdicts have the same names as in `Rule`,
/// except the rule for exact cases.
enum class FindingRule : std::uint8_t {
  none,  ///< describes an element that is not a failure
  structure,
  exact_case,
  bound,
  tile_sum,
  rms,
  bias,
  control,
  determinism,
  relation,
  status,
  repeat,  ///< how often a failing case failed again, if not always
  note,
  count,  ///< a number that becomes a field of the report
};

/// The number of judged elements of a tensor, and the number of failing ones. For the rule
/// `tile_sum`, the numbers count tiles instead of elements.
struct FailureCount {
  std::int64_t failing = 0, judged = 0;
};

/// The status that a kernel returned when it refused a call.
struct Refusal {
  std::int32_t status = 0;                      ///< spec::Status, or a code without a name
  std::optional<std::int32_t> documented = {};  ///< the status that the documents name instead
};

/// Counts how often a failing case failed again when it ran alone on a new instance of the kernel.
struct FailedAgain {
  std::int64_t runs = 0, failures = 0;
  std::string before = {};   ///< replay line of the call before it, if it also ran after that call
  bool fails_after = false;  ///< it failed after that call
  std::string trouble = {};  ///< why the judge could not run it again; empty: it could
};

/// One observation of the judge: a failure or a note. It contains all data that a person needs to
/// find the element.
struct Finding {
  FindingRule rule = FindingRule::none;
  std::string tensor;                           ///< dq, dk, dv; empty: the whole call
  std::int64_t b = -1, n = -1, s = -1, d = -1;  ///< (batch, head, row, channel); -1: none
  double actual = 0, expected = 0, tolerance = 0;
  Fact fact = {};  ///< the observation; empty if the other members contain all of it
  /// The sentence of the finding. Only sentence_of in report/sentences.hpp writes it.
  std::string text = {};
  std::optional<Pattern> pattern = {};      ///< only in a finding that counts failing elements
  std::optional<FailureCount> count = {};   ///< only in a finding that counts without a pattern
  std::optional<Refusal> refusal = {};      ///< only of a refused call that breaks a requirement
  std::optional<FailedAgain> again = {};    ///< only with the rule `repeat`
  std::optional<std::string> message = {};  ///< the kernel's own words, if it refused the call
};

/// Converts a finding to a fact (a statement as data). If the finding is about an element, the
/// first values of the fact are tensor, b, n, s, d, actual, expected and tolerance.
Fact fact_of(const Finding& finding);

/// Counts elements by the precision of their references. The error of a reference is at most 2^-20
/// of the tolerance, except for `open` references. A reference is certified if the result of its
/// cast is known; `open` and `enclosed` references are not.
struct Certainty {
  std::int64_t exact = 0;             ///< all bits, by integer arithmetic
  std::int64_t by_radius = 0;         ///< in double: all values within the proven radius cast alike
  std::int64_t by_double_double = 0;  ///< by the definition in double-double, within its radius
  std::int64_t by_definition = 0;     ///< in 75 digits, or without error
  /// Counts references that are so close to a rounding boundary of the cast that the rounding is
  /// unknown, even if the high-precision definition was evaluated. Both results are accepted.
  std::int64_t ties = 0;
  std::int64_t enclosed = 0;  ///< the radius holds several numbers of the output's type
  std::int64_t open = 0;      ///< the radius is wider, or none is proven
  double largest_radius = 0;  ///< largest radius / tau, of the value beyond its floor

  std::int64_t elements() const {
    return exact + by_radius + by_double_double + by_definition + ties + enclosed + open;
  }
  std::int64_t certified() const { return elements() - enclosed - open; }
  double share() const;  ///< certified elements / elements
  Certainty& operator+=(const Certainty& other);
};

/// Shows where the errors of one tensor are, in about 2 kB: the largest |error| / tau (the
/// tolerance) for each cell of a coarse grid, and the values around the worst element. A letter
/// encodes each cell, see tools/report_schema.md, "tensors[].errors".
struct ErrorMap {
  std::int64_t batch = 0, heads = 0, rows = 0, channels = 0;  ///< of the tensor
  std::int64_t row_step = 1, channel_step = 1;                ///< extent of a cell
  std::int64_t head_step = 1;           ///< heads per letter of `by_head`, counted batch by batch
  std::string cells;                    ///< (rows, channels) row-major, over all heads
  std::string by_head;                  ///< over all rows and channels
  std::int64_t near_channel = 0;        ///< first channel around the worst element
  std::vector<std::int64_t> near_rows;  ///< judged rows of its head around it
  std::vector<double> actual, expected, tolerance;  ///< (near_rows, channels) row-major
};

/// The judge's measurements of one output tensor.
struct TensorReport {
  std::string name;
  Certainty certainty;  ///< of the references of the judged elements
  std::int64_t rows_judged = 0, rows_total = 0, elements_judged = 0;
  double worst = 0;  ///< largest |error| / tau
  Finding worst_at;  ///< the element with that error; its tolerance is tau
  std::vector<std::pair<std::string, double>>
      terms;  ///< terms of tau at the worst element: name, share of tau
  double rms = 0, rms_limit = 0, bias = 0, bias_t = 0, nu = 0;
  double median_tau_over_ref = 0;
  std::vector<double>
      histogram;  ///< share of elements with |error|/tau in [k/10, (k+1)/10), the last one above 1
  /// The results of the controls (outputs that are wrong on purpose). Each letter Z, N, L, S, W is
  /// followed by '+' if the judge detected the control, '-' if the control passed, '.' if it does
  /// not apply: "Z+N+L.S+W+".
  std::string controls;
  std::int64_t rows_nonzero = 0,
               rows_blind =
                   0;  ///< judged rows that are not zero; those of them where zeros would pass
  std::int64_t exempt = 0;
  /// The number of rows in tiles that the judge checks by their sums, if it would detect zeros
  /// there. 0 if the judge compares every row.
  std::int64_t rows_summed = 0;
  double worst_tile = 0;  ///< largest |error| / tolerance of a tile sum
  std::vector<std::pair<std::string, double>>
      yardsticks;                  ///< rules of other frameworks; for information only
  std::optional<ErrorMap> errors;  ///< only for cases that do not conform
};

/// Returns whether all expected values of the tensor are 0. Most bugs cannot be detected in such a
/// tensor.
bool is_expected_zeros(const TensorReport& tensor);

/// Says which part of a run of forward and gradient may be wrong: the forward, the saved values, or
/// the gradient.
enum class PairPart : std::uint8_t { forward, saved, backward };

/// Returns the type of fact (statement as data) that reports this part as wrong. The value of the
/// fact is the list of wrong tensors.
FactKind kind_of(PairPart wrong);

/// A pair of forward and gradient: the names of their implementations, and the part to which each
/// tensor of the report belongs. An empty tensor name stands for a whole call.
struct OfPair {
  std::string forward, gradient;
  std::vector<std::pair<std::string, PairPart>> parts;
};

/// The report of one case.
struct CaseReport {
  std::string id, operator_name, command_line, note;
  std::string implementation;
  std::optional<std::string> outputs_file;  ///< of the outputs, if no command runs their kernel
  std::optional<OfPair> pair;
  std::vector<std::pair<std::string, std::string>> fields;  ///< every field of the case, as text
  std::string violated_requirement;                         ///< that the case breaks on purpose
  std::vector<std::string> accepted_requirements;  ///< requirements whose accept side it exercised
  bool value_case = false;                         ///< numbers were judged
  Decision verdict;
  std::vector<Finding> findings;
  std::vector<TensorReport> tensors;
  std::vector<spec::Metric> metrics;  ///< reported by the kernel: cycles, bytes, occupancy
  std::vector<std::pair<std::string, std::string>>
      digests;  ///< output tensor -> digest of its viewed elements
  double seconds_implementation = 0, seconds_total = 0;
};

/// Returns the tensors of a failing case that exceed a limit. Returns one empty name if the failure
/// concerns the whole call.
std::vector<std::string> failed_tensors(const CaseReport& report);

}  // namespace assay::conformance

namespace assay::spec {

template <>
inline constexpr auto spellings_of<conformance::PairPart> =
    Spellings<conformance::PairPart, 3>{{{{conformance::PairPart::forward, "forward"},
                                          {conformance::PairPart::saved, "saved"},
                                          {conformance::PairPart::backward, "backward"}}}};
template <>
inline constexpr auto spellings_of<conformance::FindingRule> =
    Spellings<conformance::FindingRule, 14>{{{
        {conformance::FindingRule::none, ""},
        {conformance::FindingRule::structure, "structure"},
        {conformance::FindingRule::exact_case, "exact_case"},
        {conformance::FindingRule::bound, "bound"},
        {conformance::FindingRule::tile_sum, "tile_sum"},
        {conformance::FindingRule::rms, "rms"},
        {conformance::FindingRule::bias, "bias"},
        {conformance::FindingRule::control, "control"},
        {conformance::FindingRule::determinism, "determinism"},
        {conformance::FindingRule::relation, "relation"},
        {conformance::FindingRule::status, "status"},
        {conformance::FindingRule::repeat, "repeat"},
        {conformance::FindingRule::note, "note"},
        {conformance::FindingRule::count, "count"},
    }}};

}  // namespace assay::spec
