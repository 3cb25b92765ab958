#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/result/case_report.hpp"

namespace assay::conformance {

/// Requirements of the constraint tables and what exercised them.
struct RequirementCoverage {
  /// A variant or a violation of a requirement.
  struct Way {
    std::string name;  ///< "ID:name"
    std::int64_t cases = 0;
  };
  /// The cases on either side of a requirement on an entry point whose page states it.
  struct On {
    std::string entry_point;
    bool has_accept = false, has_reject = false;  ///< sides that a sweep must exercise there
    std::int64_t accepted = 0, rejected = 0;
  };
  /// A requirement, and the cases on either side of it.
  struct Requirement {
    std::string id;
    bool has_accept = false, has_reject = false;  ///< sides that a sweep must exercise
    std::int64_t accepted = 0, rejected = 0;      ///< cases that did
    std::vector<Way> ways = {};                   ///< each of which must be taken
    std::vector<On> on = {};                      ///< each of which must be exercised
    std::string reason = {};  ///< of a requirement without such a side: why it has none
  };
  std::vector<Requirement> requirements;
  /// Requirements whose accept side, or whose reject side, some case exercised.
  std::int64_t accepted() const;
  std::int64_t rejected() const;
  /// Ids of requirements with a side that no case exercised, and of the others the ways "ID:name"
  /// that no case took and the entry points "ID on u1" on which no case exercised a side.
  std::vector<std::string> unexercised() const;
  /// Counts a case on the accept side, or on the reject side, of the requirement of that id; a
  /// report of an older table may name one that is gone.
  void accept(std::string_view id, std::string_view entry_point);
  void reject(std::string_view id, std::string_view entry_point);
  /// Counts a case for the variant or violation of that name; a report of an older table may name
  /// one that is gone.
  void take(std::string_view way);
};

/// The requirements of Op's table, nothing exercised. A requirement that binds nowhere has no side
/// that must be: it is reported and fails nobody.
template <class Op>
RequirementCoverage requirement_coverage(const spec::Policy& policy = {});

/// Counts the variant of a case that conforms, or the violation of one that was refused as it
/// should be.
void take_ways(RequirementCoverage& coverage, const CaseReport& report);

/// Counts a case, judged, on the entry point on which it exercised requirements.
void take_entry_point(RequirementCoverage& coverage, const CaseReport& report);

/// Gives requirements that were read from a report what the tables say of them: their ways and
/// entry points, none taken, and reasons.
void complete(RequirementCoverage& coverage);

/// The legal calls of a plan that a kernel may refuse without a verdict, and why.
struct RefusableCalls {
  /// A requirement that such calls break.
  struct Reason {
    std::string id, standing;  ///< "FAG-C94", "disputed"
    std::int64_t cases = 0;
  };
  std::int64_t legal = 0, refusable = 0;
  std::vector<Reason> reasons;  ///< a case may have several
};

/// Counts a planned case, if it breaks nothing on purpose.
template <class Op>
void count(RefusableCalls& calls, const Case<Op>& c);

/// Pairs of values on the axes on which cases differ, and the cases with numbers that hold them; of
/// triples of values only their number.
struct PairCoverage {
  /// A pair of values of two axes of an operator.
  struct Cell {
    std::string operator_name;
    std::string first, second;                   ///< "entry_point=u1"
    std::vector<std::string> forbidden_by = {};  ///< ids of requirements that together exclude it
    std::string left_out = {};  ///< "costly: SENTENCE", and so on, where no requirement forbids it
    std::int64_t cases = 0;
    std::string text() const { return first + " " + second; }
    /// Whether a sweep is asked for a case that holds it.
    bool is_asked() const { return forbidden_by.empty() && left_out.empty(); }
  };
  std::vector<Cell> cells;
  /// The triples of values of three axes of an operator that go together.
  struct Triples {
    std::string operator_name;
    std::int64_t admissible = 0;
    std::vector<bool> open = {};  ///< by number, those that no case holds
    std::int64_t covered() const;
  };
  std::vector<Triples> triples;

  std::int64_t admissible() const;
  std::int64_t covered() const;      ///< admissible ones that some case holds
  std::int64_t unreachable() const;  ///< not asked for
  std::int64_t forbidden() const;    ///< of these, by requirements
  std::int64_t admissible_triples() const;
  std::int64_t covered_triples() const;  ///< of these
  /// Admissible pairs that no case holds, as text.
  std::vector<std::string> uncovered() const;
};

/// The pairs of Op's axes, nothing covered.
template <class Op>
PairCoverage pair_coverage();

/// Counts a case in every pair that it holds. Cases without numbers hold none.
template <class Op>
void cover(PairCoverage& coverage, const Case<Op>& c);

/// Where the cells of an operator begin, which lie one behind the other; their number if there are
/// none.
std::size_t first_cell(const PairCoverage& coverage, std::string_view operator_name);

/// Adds the requirements, or the cells, of another operator.
void append(RequirementCoverage& coverage, RequirementCoverage other);
void append(PairCoverage& coverage, PairCoverage other);

/// The pairs of every operator whose requirements are there, nothing covered.
PairCoverage pair_coverage_of(const RequirementCoverage& requirements);

/// As above, for the case that the report is about; a replay line that no longer parses holds none.
void cover(PairCoverage& coverage, const CaseReport& report);

}  // namespace assay::conformance
