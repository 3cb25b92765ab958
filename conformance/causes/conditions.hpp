#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/result/field_term.hpp"

namespace assay::conformance {

/// Some of a list of cases.
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
  CaseSet operator&(const CaseSet& other) const {
    CaseSet both = *this;
    for (std::size_t k = 0; k < words_.size(); ++k) both.words_[k] &= other.words_[k];
    return both;
  }
  CaseSet operator|(const CaseSet& other) const {
    CaseSet either = *this;
    for (std::size_t k = 0; k < words_.size(); ++k) either.words_[k] |= other.words_[k];
    return either;
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
  /// A violation is made on purpose: that it is the cause needs no further case. A regime is
  /// known of cases that ran in the sweep, not of what they were shrunk to.
  enum class Kind : std::uint8_t { violation, field, regime };

  std::string text;
  CaseSet cases = {};
  Kind kind;
  std::vector<std::string> fields;     ///< that it asks about
  double bits = 0;                     ///< that it costs beyond its choice: the less plain the more
  std::string value = {};              ///< where it is "field=value" of a choice
  std::optional<FieldTerm> term = {};  ///< that `text` is

  /// Whether it holds of any case. It says nothing of a case without its fields.
  bool holds(const CaseFields& fields) const;
};

/// What a search finds a case by.
CaseFields searched_fields(const CaseReport& report);

/// `field=value`, `field!=value` of few, and `field<limit`, `field>=limit` of fields of numbers,
/// that split the cases; `field>other`, `field>2*other`, `heads_q/heads_kv>=2` and `field%64>0` of
/// sizes; `lengths_q=0` and `lengths_kv<=64` if they hold for some sequence. Of those that hold for
/// the same cases the first.
std::vector<Condition> conditions_on(const std::vector<const CaseReport*>& cases);

/// "sparse_mode=2|3": of each choice, the values that fail most often, joined.
std::vector<Condition> joined(const std::vector<Condition>& conditions, const CaseSet& open,
                              const CaseSet& passed);

}  // namespace assay::conformance
