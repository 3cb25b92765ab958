#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/result/field_term.hpp"

namespace assay::conformance {

/// A subset of a list of cases.
class CaseSet {
 public:
  CaseSet() = default;
  explicit CaseSet(std::size_t cases) : words_((cases + 63) / 64) {}

  void add(std::size_t k) { words_[k / 64] |= std::uint64_t{1} << k % 64; }
  bool holds(std::size_t k) const { return (words_[k / 64] >> k % 64 & 1) != 0; }
  std::int64_t size() const { return common(*this); }
  std::int64_t common(const CaseSet& other) const {
    std::int64_t count = 0;
    for (std::size_t k = 0; k < words_.size(); ++k)
      count += std::popcount(words_[k] & other.words_[k]);
    return count;
  }
  CaseSet operator&(const CaseSet& other) const { return combined(other, std::bit_and()); }
  CaseSet operator|(const CaseSet& other) const { return combined(other, std::bit_or()); }
  CaseSet without(const CaseSet& other) const {
    return combined(other, [](std::uint64_t a, std::uint64_t b) { return a & ~b; });
  }
  friend auto operator<=>(const CaseSet&, const CaseSet&) = default;

 private:
  template <class Operation>
  CaseSet combined(const CaseSet& other, Operation operation) const {
    CaseSet result = *this;
    std::ranges::transform(words_, other.words_, result.words_.begin(), operation);
    return result;
  }

  std::vector<std::uint64_t> words_;
};

/// A search term, such as `field=value`, and the cases that satisfy it.
struct Condition {
  /// `violation`: a condition on the requirement that the call violates on purpose; one failing
  /// case is then enough evidence. `regime`: a condition on a branch of the kernel's tiling. The
  /// branches are known for the cases of the sweep, but not for the smaller cases to which failures
  /// were reduced.
  enum class Kind : std::uint8_t { violation, field, regime };

  FieldTerm term;
  std::vector<std::string> fields = {term.field};  ///< fields that it compares
  double bits = 0;                                 ///< extra cost; lower for simple terms
  Kind kind = Kind::field;
  bool is_choice = false;  ///< "field=value", for a field with few values
  CaseSet cases = {};

  /// Returns whether a case satisfies the term. Returns false if the case does not have the fields
  /// of the term.
  bool holds(const CaseFields& fields) const;
};

/// Returns the fields of a case that the search on the report page can use.
CaseFields searched_fields(const CaseReport& report);

/// Returns conditions that split the cases. For fields with few values: `field=value` and
/// `field!=value`. For numeric fields: `field<limit` and `field>=limit`. For sizes: `field>other`,
/// `field>2*other`, `heads_q/heads_kv>=2` and `field%64>0`. `lengths_q=0` and `lengths_kv<=64` hold
/// if any sequence has such a length. If several conditions select the same cases, only the first
/// one is returned.
std::vector<Condition> conditions_on(const std::vector<const CaseReport*>& cases);

/// Returns conditions such as "sparse_mode=2|3", which join the field values that fail most often.
std::vector<Condition> joined(const std::vector<Condition>& conditions, const CaseSet& open,
                              const CaseSet& passed);

}  // namespace assay::conformance
