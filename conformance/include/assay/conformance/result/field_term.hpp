#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::conformance {

/// The names and values of a case's fields, written as in its replay line. The search adds three:
/// the operator, the violated requirement, and the regimes (tiling branches) with their counts.
using CaseFields = std::vector<std::pair<std::string, std::string>>;

/// A comparison of a field, as the search on the report page accepts it and as causes print it:
///
///     dtype=fp16|bf16      the field has one of the values
///     head_dim>=128        as numbers: <, <=, >, >=; == is =
///     heads_q>2*heads_kv   a field and a multiple of another one
///     heads_q/heads_kv>=2  one field divided by another one
///     seq_kv%64>0          the remainder of a division
///     lengths_q=0          the length of some sequence
///     lengths_q=1..7       the same, for a range of numbers
///     strides=columns      some tensor, an input or an output, has these strides
///     -sparse_mode=3       not, as sparse_mode!=3
///
/// The page's own parser (tools/dashboard/src/query.ts) accepts the same terms: the tests of both
/// read tests/tools/field_terms.json.
class FieldTerm {
 public:
  /// A term, and the number of characters that were read for it.
  using Read = std::pair<FieldTerm, std::size_t>;

  /// Parses the term at the start of `text`. Returns nothing if `text` does not start with a term.
  static std::optional<Read> read(std::string_view text);

  /// The names of the one or two fields that the term compares.
  std::vector<std::string> fields() const;
  bool is_negated() const { return is_negated_; }
  bool holds(const CaseFields& fields) const { return compares(fields) != is_negated_; }

 private:
  enum class Comparison : std::uint8_t { equal, less, at_most, greater, at_least };

  bool compares(const CaseFields& fields) const;
  bool compares_numbers(double value, double limit) const;
  bool compares_text(std::string_view text, std::optional<double> limit,
                     const std::string& wanted) const;
  bool compares_with(const CaseFields& fields, const std::string& wanted) const;
  std::optional<bool> compares_fields(const CaseFields& fields, const std::string& wanted) const;
  std::vector<double> numbers(const CaseFields& fields) const;

  bool is_negated_ = false;
  std::string field_, divided_by_;
  double divisor_ = 0;  ///< 0: the field itself, not a remainder
  Comparison comparison_ = Comparison::equal;
  std::vector<std::string> values_;  ///< in lower case
};

/// The name that a comparison uses for its field, such as "headdim" in "headdim>=64". It need not
/// be the name of an existing field. Empty if the text does not contain a comparison.
std::string compared_name(std::string_view text);

}  // namespace assay::conformance
