#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::conformance {

/// Names and values of a case's fields, as its replay line spells them. A search takes the
/// operator, the violated requirement, and regimes with their counts for fields, too.
using CaseFields = std::vector<std::pair<std::string, std::string>>;

/// A comparison of a field, as the search of a report's page takes it and causes print it:
///
///     dtype=fp16|bf16      the field has one of the values
///     head_dim>=128        as numbers: <, <=, >, >=; == is =
///     heads_q>2*heads_kv   a field and a multiple of another one
///     heads_q/heads_kv>=2  one field divided by another one
///     seq_kv%64>0          what is left of a division
///     lengths_q=0          the length of some sequence
///     lengths_q=1..7       the same, from a number to another one
///     strides=columns      some tensor, an input or an output, has these strides
///     -sparse_mode=3       not, as sparse_mode!=3
///
/// The page's own parser (tools/dashboard/src/query.ts) answers alike: both read
/// tests/tools/field_terms.json.
class FieldTerm {
 public:
  /// A term, and how many letters it takes.
  using Read = std::pair<FieldTerm, std::size_t>;

  /// The term that `text` begins with; nothing where there is none.
  static std::optional<Read> read(std::string_view text);

  /// The fields that it compares: one or two.
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
  double divisor_ = 0;  ///< 0: the field itself, not what is left of a division
  Comparison comparison_ = Comparison::equal;
  std::vector<std::string> values_;  ///< in small letters
};

/// The name that a comparison asks for, such as "headdim" of "headdim>=64", known or not;
/// empty if the text has no comparison.
std::string compared_name(std::string_view text);

}  // namespace assay::conformance
