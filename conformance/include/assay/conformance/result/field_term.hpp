#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/text_enum.hpp"

namespace assay::conformance {

/// The names and values of a case's fields, written as in its replay line. The search adds three:
/// the operator, the violated requirement, and the regimes (branches of the kernel's tiling) with
/// their counts.
using CaseFields = std::vector<std::pair<std::string, std::string>>;

/// A condition on one field of a case. The search on the report page accepts these terms, and
/// causes print them:
///
///     dtype=fp16|bf16      the field has one of these values
///     head_dim>=128        compares numbers: <, <=, >, >=; == means =
///     heads_q>2*heads_kv   compares a field with a multiple of another field
///     heads_q/heads_kv>=2  compares the quotient of two fields
///     seq_kv%64>0          compares the remainder of a division
///     lengths_q=0          at least one sequence has this length
///     lengths_q=1..7       at least one sequence has a length in this range
///     strides=columns      at least one input or output tensor has these strides
///     -sparse_mode=3       the field has another value, like sparse_mode!=3
///
/// The page's own parser (tools/dashboard/src/query.ts) accepts the same terms. The tests of both
/// parsers read tests/tools/field_terms.json.
struct FieldTerm {
  enum class Comparison : std::uint8_t { equal, less, at_most, greater, at_least };
  /// A parsed term, and the number of characters that the parser read.
  using Read = std::pair<FieldTerm, std::size_t>;

  std::string field;
  Comparison comparison = Comparison::equal;
  /// The term is true if the comparison is true for at least one value: a number, a word, a range
  /// of numbers, another field or a multiple of it.
  std::vector<std::string> values;
  std::string divided_by = {};  ///< the field that divides `field`; empty: none does
  double divisor = 0;           ///< compares the remainder of this division; 0: the field itself
  bool is_negated = false;

  /// Parses the term at the start of `text`. Returns nothing if `text` does not start with a term.
  static std::optional<Read> read(std::string_view text);
  /// Returns the term in the syntax of the search. Quotes values that contain special characters of
  /// the search.
  std::string text() const;
  /// Returns whether text() can be parsed back to the same term. The syntax of the search cannot
  /// express every name and value.
  bool can_be_read() const;

  /// Returns the one or two field names that the term compares.
  std::vector<std::string> fields() const;
  /// The names of all fields on which the result of holds() depends. A case need not have them.
  std::vector<std::string> read_fields() const;
  bool holds(const CaseFields& fields) const;
  bool operator==(const FieldTerm&) const = default;
};

/// Returns the name on the left of a comparison, such as "headdim" in "headdim>=64". A field of
/// this name need not exist. Returns an empty text if the text does not contain a comparison.
std::string compared_name(std::string_view text);

}  // namespace assay::conformance

namespace assay::spec {

template <>
inline constexpr auto spellings_of<conformance::FieldTerm::Comparison> =
    Spellings<conformance::FieldTerm::Comparison, 5>{{{
        {conformance::FieldTerm::Comparison::equal, "="},
        {conformance::FieldTerm::Comparison::less, "<"},
        {conformance::FieldTerm::Comparison::at_most, "<="},
        {conformance::FieldTerm::Comparison::greater, ">"},
        {conformance::FieldTerm::Comparison::at_least, ">="},
    }}};

}  // namespace assay::spec
