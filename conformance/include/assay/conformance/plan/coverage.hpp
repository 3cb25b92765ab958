#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/result/case_report.hpp"

namespace assay::conformance {

/// Lists the requirements of an operator, with the number of cases that exercised each of them.
struct RequirementCoverage {
  /// A named variant (another legal form of a call) or violation of a requirement.
  struct Way {
    std::string name;  ///< "ID:name"
    std::int64_t cases = 0;
  };
  /// Counts the accepted and rejected cases at one entry point. The documentation of the entry
  /// point contains the requirement.
  struct On {
    std::string entry_point;
    bool has_accept = false, has_reject = false;  ///< sides that a sweep must exercise there
    std::int64_t accepted = 0, rejected = 0;
  };
  /// A requirement, with two numbers of cases. accepted: the call satisfies the requirement.
  /// rejected: the call violates it, and the kernel refuses it.
  struct Requirement {
    std::string id;
    bool has_accept = false, has_reject = false;  ///< sides that a sweep must exercise
    std::int64_t accepted = 0, rejected = 0;      ///< cases that exercised a side
    std::vector<Way> ways = {};                   ///< variants and violations that must be taken
    std::vector<On> on = {};                      ///< entry points that must be exercised
    std::string reason = {};  ///< why a requirement has no side that must be exercised
  };
  std::vector<Requirement> requirements;
  /// Return the number of requirements that some case satisfied (`accepted`), or that some case
  /// violated (`rejected`).
  std::int64_t accepted() const;
  std::int64_t rejected() const;
  /// Returns what no case exercised. A requirement that no case satisfied, or no case violated, is
  /// listed by its id. For other requirements: variants and violations without a case, as
  /// "ID:name", and entry points without a case, as "ID on u1".
  std::vector<std::string> unexercised() const;
  /// Counts a case that satisfies the requirement with this id; reject() counts a case that
  /// violates it. Unknown ids are ignored: the report of an older program may contain requirements
  /// that were removed since.
  void accept(std::string_view id, std::string_view entry_point);
  void reject(std::string_view id, std::string_view entry_point);
  /// Counts a case with this variant (another legal form of the call) or violation. Unknown names
  /// are ignored.
  void take(std::string_view way);
};

/// Returns the requirements of Op. No case is counted yet. Requirements that a kernel need not obey
/// are listed for information: they need no case, and a kernel cannot fail because of them.
template <class Op>
RequirementCoverage requirement_coverage(const spec::Policy& policy = {});

/// If a case conforms, counts its variant (another legal form of the call). If the kernel refused
/// the case as documented, counts its violation.
void take_ways(RequirementCoverage& coverage, const CaseReport& report);

/// Counts a judged case at its entry point, for each requirement that the case exercised there.
void take_entry_point(RequirementCoverage& coverage, const CaseReport& report);

/// Completes requirements from a report with data that reports omit: variants, violations, entry
/// points (with count 0), and reasons.
void complete(RequirementCoverage& coverage);

/// Counts the legal calls of a test plan that a kernel may refuse without failing, with the
/// reasons.
struct RefusableCalls {
  /// A requirement that a legal call violates. A kernel may either refuse the call because of this
  /// requirement, or ignore the requirement.
  struct Reason {
    std::string id, standing;  ///< for example "FAG-C94", "disputed"
    std::int64_t cases = 0;
  };
  std::int64_t legal = 0, refusable = 0;
  std::vector<Reason> reasons;  ///< one case may count for several
};

/// Counts a planned case. Skips cases that violate a requirement on purpose.
template <class Op>
void count(RefusableCalls& calls, const Case<Op>& c);

/// Counts cases for each pair of values on two axes (properties of a case). Only cases that compute
/// outputs count. For triples of values, only totals are kept.
struct PairCoverage {
  /// A pair of values on two axes (properties of a case) of an operator.
  struct Cell {
    std::string operator_name;
    std::string first, second;                   ///< "entry_point=u1"
    std::vector<std::string> forbidden_by = {};  ///< ids of requirements that together forbid it
    std::string left_out = {};                   ///< other reason, such as "costly: SENTENCE"
    std::int64_t cases = 0;
    std::string text() const { return first + " " + second; }
    /// Returns whether a sweep should contain a case with these two values.
    bool is_asked() const { return forbidden_by.empty() && left_out.empty(); }
  };
  std::vector<Cell> cells;
  /// The allowed triples of values on three axes (properties of a case) of an operator.
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
  /// Returns the allowed pairs of values that no case contains, as text.
  std::vector<std::string> uncovered() const;
};

/// Returns all pairs of factor values (properties of a case) of Op. No case is counted yet.
template <class Op>
PairCoverage pair_coverage();

/// Counts the case for every pair of values that it contains. Ignores cases that compute no
/// outputs.
template <class Op>
void cover(PairCoverage& coverage, const Case<Op>& c);

/// Returns the index of the operator's first pair in the list; the pairs of an operator are
/// consecutive. Returns the size of the list if the operator has no pairs.
std::size_t first_cell(const PairCoverage& coverage, std::string_view operator_name);

/// Add the requirements, or the pairs of values, of another operator.
void append(RequirementCoverage& coverage, RequirementCoverage other);
void append(PairCoverage& coverage, PairCoverage other);

/// Returns all pairs of factor values (properties of a case) of every operator in `requirements`.
/// No case is counted yet.
PairCoverage pair_coverage_of(const RequirementCoverage& requirements);

/// Counts the case of a report. Counts nothing if the replay line of the report can no longer be
/// parsed.
void cover(PairCoverage& coverage, const CaseReport& report);

}  // namespace assay::conformance
