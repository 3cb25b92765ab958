#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/result/case_report.hpp"

namespace assay::conformance {

/// The requirements of an operator's table, with the number of cases that exercised each.
struct RequirementCoverage {
  /// A variant or a violation of a requirement.
  struct Way {
    std::string name;  ///< "ID:name"
    std::int64_t cases = 0;
  };
  /// The numbers of cases that were accepted and rejected at one entry point whose page states the
  /// requirement.
  struct On {
    std::string entry_point;
    bool has_accept = false, has_reject = false;  ///< sides that a sweep must exercise there
    std::int64_t accepted = 0, rejected = 0;
  };
  /// A requirement, and the numbers of cases that were accepted (it holds) and rejected (it is
  /// broken).
  struct Requirement {
    std::string id;
    bool has_accept = false, has_reject = false;  ///< sides that a sweep must exercise
    std::int64_t accepted = 0, rejected = 0;      ///< cases that exercised a side
    std::vector<Way> ways = {};                   ///< variants and violations that must be taken
    std::vector<On> on = {};                      ///< entry points that must be exercised
    std::string reason = {};  ///< why a requirement has no side that must be exercised
  };
  std::vector<Requirement> requirements;
  /// The number of requirements that a case satisfied (`accepted`), or that a case broke
  /// (`rejected`).
  std::int64_t accepted() const;
  std::int64_t rejected() const;
  /// The names that no case exercised. For a requirement with an unexercised side: its id. For
  /// other requirements: variants and violations without a case, as "ID:name", and entry points
  /// with an unexercised side, as "ID on u1".
  std::vector<std::string> unexercised() const;
  /// Counts a case for the accept side, or for the reject side, of the requirement with this id.
  /// Unknown ids are ignored: the report of an older table may contain requirements that were
  /// removed since.
  void accept(std::string_view id, std::string_view entry_point);
  void reject(std::string_view id, std::string_view entry_point);
  /// Counts a case for the variant or violation with this name. Unknown names are ignored, too.
  void take(std::string_view way);
};

/// The requirements of Op's table; no case is counted yet. A requirement that no kernel must obey
/// is only reported: it needs no case, and no kernel fails because of it.
template <class Op>
RequirementCoverage requirement_coverage(const spec::Policy& policy = {});

/// Counts the variant of a conforming case, or the violation of a case that was refused as
/// specified.
void take_ways(RequirementCoverage& coverage, const CaseReport& report);

/// Counts a judged case at its entry point, for the requirements that it exercised there.
void take_entry_point(RequirementCoverage& coverage, const CaseReport& report);

/// Completes requirements that were read from a report. Adds data from the tables: variants,
/// violations, entry points (with count 0), and reasons.
void complete(RequirementCoverage& coverage);

/// Counts the legal calls of a plan for which a kernel may refuse the call without failing, and
/// says why.
struct RefusableCalls {
  /// A requirement that a legal call breaks, so that a kernel may refuse the call; a kernel may
  /// also ignore the requirement.
  struct Reason {
    std::string id, standing;  ///< for example "FAG-C94", "disputed"
    std::int64_t cases = 0;
  };
  std::int64_t legal = 0, refusable = 0;
  std::vector<Reason> reasons;  ///< one case may count for several
};

/// Counts a planned case. Skips cases that break a requirement on purpose.
template <class Op>
void count(RefusableCalls& calls, const Case<Op>& c);

/// Coverage of pairs: for each pair of values on two axes, the number of cases that contain it.
/// Only cases that compute outputs count. For triples of values, only totals are stored.
struct PairCoverage {
  /// A pair of values of two axes of an operator.
  struct Cell {
    std::string operator_name;
    std::string first, second;                   ///< "entry_point=u1"
    std::vector<std::string> forbidden_by = {};  ///< ids of requirements that together forbid it
    std::string left_out = {};                   ///< other reason, such as "costly: SENTENCE"
    std::int64_t cases = 0;
    std::string text() const { return first + " " + second; }
    /// Returns whether a sweep should contain a case with this pair of values.
    bool is_asked() const { return forbidden_by.empty() && left_out.empty(); }
  };
  std::vector<Cell> cells;
  /// The admissible triples of values on three axes of an operator.
  struct Triples {
    std::string operator_name;
    std::int64_t admissible = 0;
    std::vector<bool> open = {};  ///< by number of a triple: true if no case has it
    std::int64_t covered() const;
  };
  std::vector<Triples> triples;

  std::int64_t admissible() const;
  std::int64_t covered() const;      ///< admissible pairs that some case contains
  std::int64_t unreachable() const;  ///< pairs that are not asked for
  std::int64_t forbidden() const;    ///< unreachable pairs that requirements forbid
  std::int64_t admissible_triples() const;
  std::int64_t covered_triples() const;  ///< admissible triples that some case contains
  /// The admissible pairs that no case contains, as text.
  std::vector<std::string> uncovered() const;
};

/// All pairs of Op's axes; no case is counted yet.
template <class Op>
PairCoverage pair_coverage();

/// Counts the case for every pair of values that it contains. Cases that compute no outputs count
/// for no pair.
template <class Op>
void cover(PairCoverage& coverage, const Case<Op>& c);

/// Returns the index of the operator's first cell; the cells of an operator are consecutive. If the
/// operator has none, returns the number of all cells.
std::size_t first_cell(const PairCoverage& coverage, std::string_view operator_name);

/// Add the requirements, or the cells, of another operator.
void append(RequirementCoverage& coverage, RequirementCoverage other);
void append(PairCoverage& coverage, PairCoverage other);

/// All pairs of every operator in `requirements`; no case is counted yet.
PairCoverage pair_coverage_of(const RequirementCoverage& requirements);

/// Counts the case of a report. If its replay line no longer parses, nothing is counted.
void cover(PairCoverage& coverage, const CaseReport& report);

}  // namespace assay::conformance
