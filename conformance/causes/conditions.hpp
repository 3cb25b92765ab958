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

/// Selects some of a list of cases.
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

/// A term of a search query, and the cases for which it holds.
struct Condition {
  /// `violation`: the call breaks a requirement on purpose, so a single case is enough for a cause.
  /// `regime`: a branch of the kernel's tiling; known for the cases of the sweep, not for the cases
  /// to which they were shrunk.
  enum class Kind : std::uint8_t { violation, field, regime };

  FieldTerm term;
  std::vector<std::string> fields = {term.field};  ///< fields that it compares
  double bits = 0;                                 ///< extra cost; lower for simple terms
  Kind kind = Kind::field;
  bool is_choice = false;  ///< "field=value", for a field with few values
  CaseSet cases = {};

  /// Returns whether the term holds for a case. Returns false if the case does not have the fields
  /// of the term.
  bool holds(const CaseFields& fields) const;
};

/// The fields of a case that the page's search can use.
CaseFields searched_fields(const CaseReport& report);

/// Conditions that split the cases: `field=value` and `field!=value` for fields with few values;
/// `field<limit` and `field>=limit` for numeric fields; `field>other`, `field>2*other`,
/// `heads_q/heads_kv>=2` and `field%64>0` for sizes; `lengths_q=0` and `lengths_kv<=64`, which hold
/// if any sequence has such a length. If several conditions hold for the same cases, only the first
/// one is included.
std::vector<Condition> conditions_on(const std::vector<const CaseReport*>& cases);

/// Conditions such as "sparse_mode=2|3": they join the values of a field that fail most often.
std::vector<Condition> joined(const std::vector<Condition>& conditions, const CaseSet& open,
                              const CaseSet& passed);

}  // namespace assay::conformance
