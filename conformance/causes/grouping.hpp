#pragma once

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

using Members = std::set<std::size_t>;  ///< of the list of all cases

/// One way of failing: a tensor that breaks a limit, or a verdict about the whole call.
struct Way {
  std::string tensor;
  Verdict verdict = Verdict::conforms;          ///< where there is no tensor
  std::size_t in_relations = 0, in_others = 0;  ///< cases that fail so

  /// Whether it is found by relations above all.
  bool of_relations() const { return in_relations > in_others; }
};

/// Cases that fail in one way and have fields in common which others have not.
struct Group {
  Way way;
  std::vector<const Condition*> terms;  ///< none: no fields separate them
  Members cases;
  std::int64_t others = 0;
  bool refuses_nothing = false;  ///< every forbidden call is accepted
};

/// As far as what a case was shrunk to is known.
CaseReport neighbour_of(const CaseReport& report, const ShrunkCase& shrunk);
/// Whether they hold of a neighbour, whose regimes are not known.
bool may_hold(const std::vector<const Condition*>& terms, const CaseFields& neighbour);

/// Learns what separates cases that fail from others. What a failing case was shrunk to fails, too:
/// its fields are known to be enough.
class Grouping {
 public:
  /// It refers to the cases.
  Grouping(const std::vector<CaseReport>& cases, const std::vector<ShrunkCase>& shrunk);

  /// Those of every way of failing. They refer to the grouping.
  std::vector<Group> groups();

 private:
  using Terms = std::vector<const Condition*>;

  struct Fact {
    const CaseReport* report;
    CaseFields fields;                ///< of the report, as a search takes them
    std::vector<std::string> failed;  ///< tensors; empty where it does not fail

    bool fails_so(const Way& way) const;
    /// Whether the case counts against a rule for `way`.
    bool passes(const Way& way) const;
  };
  struct Neighbour {
    CaseReport report;  ///< as far as it is known
    std::size_t of;     ///< the case that was shrunk
  };

  void add_neighbours(const std::vector<CaseReport>& cases, const std::vector<ShrunkCase>& shrunk);
  std::vector<Way> ways() const;
  static bool tells_of(const Fact& fact, const Way& way);
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
  std::vector<Fact> facts_;  ///< of the cases, then of the neighbours
  std::size_t cases_;
  std::vector<std::size_t> learnt_;
  std::vector<Condition> conditions_;          ///< on the learnt cases
  std::deque<std::vector<Condition>> joined_;  ///< values of choices, for each way
  std::vector<Terms> rules_;                   ///< of the ways so far
};

}  // namespace assay::conformance
