#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "assay/conformance/report/report.hpp"

namespace assay::conformance {

/// Some of a list of cases.
class CaseSet {
 public:
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
  CaseSet operator&(const CaseSet& other) const {
    CaseSet both = *this;
    for (std::size_t k = 0; k < words_.size(); ++k) both.words_[k] &= other.words_[k];
    return both;
  }
  CaseSet without(const CaseSet& other) const {
    CaseSet left = *this;
    for (std::size_t k = 0; k < words_.size(); ++k) left.words_[k] &= ~other.words_[k];
    return left;
  }
  friend auto operator<=>(const CaseSet&, const CaseSet&) = default;

 private:
  std::vector<std::uint64_t> words_;
};

/// A term of a query, and the cases that meet it.
struct Condition {
  using Test = std::function<bool(const CaseReport&)>;

  /// What is asked of a case. A violation is made on purpose: that it is the cause needs no further
  /// case. The others are the less likely the more of them there are.
  enum class Kind : std::uint8_t { violation, field, regime, relation, rest };

  std::string text;
  CaseSet cases;
  Test test;  ///< of any case
  Kind kind;
};

/// `field=value`, `field!=value` of few, and `field<limit`, `field>=limit` of fields of numbers,
/// that split the cases; `field>other` and `field%64>0` of sizes, of packed sequences if it holds
/// for some of them. Of those that hold for the same cases the first.
std::vector<Condition> conditions_on(const std::vector<const CaseReport*>& cases);

}  // namespace assay::conformance
