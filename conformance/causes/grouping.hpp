#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "assay/conformance/causes/causes.hpp"
#include "causes/rules.hpp"

namespace assay::conformance {

using Members = std::set<std::size_t>;  ///< indices into the list of all cases

/// Returns whether `part` is at least the fraction `share` of `whole`.
inline bool is_share(std::integral auto part, double share, std::integral auto whole) {
  return static_cast<double>(part) >= share * static_cast<double>(whole);
}

/// One way in which cases fail: an output tensor exceeds a limit, or the whole call gets a verdict
/// such as crash.
struct Way {
  std::string tensor;
  Verdict verdict = Verdict::conforms;          ///< used only if `tensor` is empty
  std::size_t in_relations = 0, in_others = 0;  ///< cases that fail this way

  /// Returns whether most of the cases that fail in this way test relations (statements about
  /// several runs).
  bool of_relations() const { return in_relations > in_others; }
};

/// Cases that fail in one way, and the field conditions that distinguish them from other cases.
struct Group {
  Way way;
  std::vector<const Condition*> terms;  ///< empty: no fields separate them
  Members cases;
  std::int64_t others = 0;
  bool refuses_nothing = false;  ///< every forbidden call is accepted
};

/// Returns a report for the smaller case to which the case of `report` was reduced. Only the known
/// members are set.
CaseReport neighbour_of(const CaseReport& report, const ShrunkCase& shrunk);
/// Returns whether `neighbour`, the smaller case to which a failing case was reduced, may satisfy
/// the terms (conditions). Its regimes (branches of the kernel's tiling) are unknown, so terms
/// about regimes count as true.
bool may_hold(const std::vector<const Condition*>& terms, const CaseFields& neighbour);

/// Learns which fields distinguish failing cases from other cases. It also uses the neighbours: the
/// smaller cases to which failing cases were reduced. A neighbour still fails, so its fields are
/// enough for the failure.
class Grouping {
 public:
  /// Keeps a reference to the cases, which must outlive this object.
  Grouping(const std::vector<CaseReport>& cases, const std::vector<ShrunkCase>& shrunk);

  /// Returns groups of failing cases: for each way in which cases fail, cases that satisfy the same
  /// conditions. The groups point into this object.
  std::vector<Group> groups();

 private:
  using Terms = std::vector<const Condition*>;

  struct Fact {
    const CaseReport* report;
    CaseFields fields;                ///< fields of the report, as the search reads them
    std::vector<std::string> failed;  ///< tensors; empty if the case does not fail

    bool fails_so(const Way& way) const;
    /// Returns whether this passing case is evidence against the conditions that explain the
    /// failures of type `way`.
    bool passes(const Way& way) const;
  };
  struct Neighbour {
    CaseReport report;  ///< report of the shrunk case, with the known members only
    std::size_t of;     ///< index of the case that was shrunk
  };

  void add_neighbours(const std::vector<CaseReport>& cases, const std::vector<ShrunkCase>& shrunk);
  std::vector<Way> ways() const;
  static bool is_about(const Fact& fact, const Way& way);
  CaseSet learnt_that(const std::function<bool(const Fact&)>& is) const;
  Members failing(const Way& way) const;
  std::optional<Group> refusing_nothing(const Way& way) const;
  std::vector<Group> of(const Way& way);
  std::vector<Group> learnt(const Way& way, const Vocabulary& vocabulary) const;
  bool is_sure(const Group& group) const;
  Terms refuted(const Way& way, const std::vector<Group>& groups) const;
  Group explained(const Way& way, const Terms& terms, Members& left) const;
  std::vector<Group> without_tendencies(const Way& way, std::vector<Group> groups) const;

  std::vector<Neighbour> neighbours_;
  std::vector<Fact> facts_;  ///< first one per case, then one per neighbour
  std::size_t cases_;
  std::vector<std::size_t> learnt_;
  std::vector<Condition> conditions_;          ///< conditions, evaluated on the learnt cases
  std::deque<std::vector<Condition>> joined_;  ///< conditions with joined values, per way
  std::vector<Terms> rules_;                   ///< rules learnt from other ways of failing
};

}  // namespace assay::conformance
