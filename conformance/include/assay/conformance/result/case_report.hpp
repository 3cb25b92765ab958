#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/conformance/result/decision.hpp"
#include "assay/conformance/result/pattern.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::conformance {

/// What a finding is about. Of a rule that decides verdicts it has the same word, but for the exact
/// case.
enum class FindingRule : std::uint8_t {
  none,  ///< of an element that is described, not found wrong
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

/// One thing that is wrong, or a note. Everything a person needs to find the place.
struct Finding {
  FindingRule rule = FindingRule::none;
  std::string tensor;                           ///< dq, dk, dv; empty where it concerns the call
  std::int64_t b = -1, n = -1, s = -1, d = -1;  ///< (batch, head, row, channel); -1: none
  double actual = 0, expected = 0, tolerance = 0;
  std::string text;                     ///< a sentence for people: subject, fact, numbers, limit
  std::optional<Pattern> pattern = {};  ///< of the finding that counts a tensor's failing elements
};

/// How the references of elements are known. All but the `open` ones are known to 2^-20 of their
/// tolerance; all but those and the `enclosed` ones are certified: it is known what they are cast
/// to.
struct Certainty {
  std::int64_t exact = 0;             ///< all bits, by integer arithmetic
  std::int64_t by_radius = 0;         ///< in double: all of the proven radius is cast alike
  std::int64_t by_double_double = 0;  ///< by the definition in double-double, within its radius
  std::int64_t by_definition = 0;     ///< in 75 digits, or without error
  /// So close to where the cast changes that double, or the definition if it was asked, does not
  /// tell the side: both are golden.
  std::int64_t ties = 0;
  std::int64_t enclosed = 0;  ///< the radius holds several numbers of the output's type
  std::int64_t open = 0;      ///< the radius is wider, or none is proven
  double largest_radius = 0;  ///< largest radius / tau, of the gradient beyond its floor

  std::int64_t elements() const {
    return exact + by_radius + by_double_double + by_definition + ties + enclosed + open;
  }
  std::int64_t certified() const { return elements() - enclosed - open; }
  double share() const;  ///< of the elements those that are certified
  Certainty& operator+=(const Certainty& other);
};

/// Where the errors of one tensor lie, in about 2 kB: for each cell of a coarse grid the largest
/// |error| / tau, and the numbers around the worst element. The cells are letters:
/// tools/report_schema.md, "tensors[].errors".
struct ErrorMap {
  std::int64_t batch = 0, heads = 0, rows = 0, channels = 0;  ///< of the tensor
  std::int64_t row_step = 1, channel_step = 1;                ///< what a cell spans
  std::int64_t head_step = 1;           ///< heads, counted batch by batch, of a letter of `by_head`
  std::string cells;                    ///< (rows, channels) row-major, of all heads
  std::string by_head;                  ///< of all rows and channels
  std::int64_t near_channel = 0;        ///< first channel around the worst element
  std::vector<std::int64_t> near_rows;  ///< judged rows of its head around it
  std::vector<double> actual, expected, tolerance;  ///< (near_rows, channels) row-major
};

/// What the judge measured on one output tensor.
struct TensorReport {
  std::string name;
  Certainty certainty;  ///< of the references of the judged elements
  std::int64_t rows_judged = 0, rows_total = 0, elements_judged = 0;
  double worst = 0;  ///< largest |error| / tau
  Finding worst_at;  ///< where; its tolerance is tau
  std::vector<std::pair<std::string, double>>
      terms;  ///< of tau at the worst element: name, share of tau
  double rms = 0, rms_limit = 0, bias = 0, bias_t = 0, nu = 0;
  double median_tau_over_ref = 0;
  std::vector<double>
      histogram;  ///< share of elements with |error|/tau in [k/10, (k+1)/10), the last one above 1
  std::string controls;  ///< one letter a control: Z N L S W; '+' caught, '-' passed, '.' not
                         ///< applicable, e.g. "Z+N+L.S+W+"
  std::int64_t rows_due = 0,
               rows_blind =
                   0;  ///< judged rows that are not zero; those of them in which zeros would pass
  std::int64_t exempt = 0;
  std::int64_t rows_summed = 0;  ///< 0 where every row is judged itself; else rows of the tiles
                                 ///< whose sums were judged and would have shown zeros
  double worst_tile = 0;         ///< largest |error| / tolerance of such a sum
  std::vector<std::pair<std::string, double>>
      yardsticks;                  ///< rules of other stacks; they decide nothing
  std::optional<ErrorMap> errors;  ///< of cases that do not conform
};

/// Whether all expected values of the tensor are 0, so that it is right in spite of most bugs.
bool is_due_zeros(const TensorReport& tensor);

/// What happened to one case.
struct CaseReport {
  std::string id, operator_name, command_line, note;
  std::string implementation;
  std::optional<std::string> outputs_file;  ///< that held the outputs: no command runs their kernel
  std::vector<std::pair<std::string, std::string>> fields;  ///< every field of the case, as text
  std::string violated_requirement;                         ///< of cases that break one on purpose
  std::vector<std::string> accepted_requirements;  ///< those whose accept side this case exercised
  bool value_case = false;                         ///< numbers were judged
  Decision verdict;
  std::vector<Finding> findings;
  std::vector<TensorReport> tensors;
  std::vector<spec::Metric> metrics;  ///< of the implementation: modelled cycles, bytes, occupancy
  std::vector<std::pair<std::string, std::string>>
      digests;  ///< output tensor -> digest of its viewed elements
  double seconds_implementation = 0, seconds_total = 0;
};

/// Tensors of a failing case that break a limit; one empty name where the call as a whole does.
std::vector<std::string> failed_tensors(const CaseReport& report);

/// "decided by RULE: EVIDENCE"; empty without evidence.
std::string reason_of(const CaseReport& report);

/// What is said of a failing case in few lines: the reason, and the first finding where it says
/// something else.
std::vector<std::string> told_first(const CaseReport& report);

}  // namespace assay::conformance

namespace assay::spec {

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
