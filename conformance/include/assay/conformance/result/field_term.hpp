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
struct FieldTerm {
  enum class Comparison : std::uint8_t { equal, less, at_most, greater, at_least };
  /// A term, and the number of characters that were read for it.
  using Read = std::pair<FieldTerm, std::size_t>;

  std::string field;
  Comparison comparison = Comparison::equal;
  /// The term holds if the comparison holds for any of them: a number, a word, a range of numbers,
  /// another field or a multiple of it.
  std::vector<std::string> values;
  std::string divided_by = {};  ///< the field that divides `field`; empty: none does
  double divisor = 0;           ///< compares the remainder of this division; 0: the field itself
  bool is_negated = false;

  /// Parses the term at the start of `text`. Returns nothing if `text` does not start with a term.
  static std::optional<Read> read(std::string_view text);
  /// Returns the term as the search accepts it. Values with signs of the search are quoted.
  std::string text() const;
  /// Returns whether `read(text())` gives this term: the search has no way to write every name and
  /// value.
  bool can_be_read() const;

  /// The names of the one or two fields that the term compares.
  std::vector<std::string> fields() const;
  /// The names of all fields on which the result of holds() depends. A case need not have them.
  std::vector<std::string> read_fields() const;
  bool holds(const CaseFields& fields) const;
  bool operator==(const FieldTerm&) const = default;
};

/// The name that a comparison uses for its field, such as "headdim" in "headdim>=64". It need not
/// be the name of an existing field. Empty if the text does not contain a comparison.
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
