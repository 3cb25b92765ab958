#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/suite.hpp"

namespace assay::conformance {

/// The accepted values of an integer field: first, first + step, ... last.
struct FieldRange {
  std::string_view name;
  std::int64_t first, last;
  std::string_view requirement =
      {};  ///< id of the documented requirement that sets the limit; empty: the tool sets it
  std::int64_t step = 1;

  bool has(std::int64_t value) const {
    return value >= first && value <= last && (value - first) % step == 0;
  }
  /// Returns the range as text: "1 to 128", "16 to 128 in steps of 16" or "128 or 192", then the
  /// requirement, if there is one.
  std::string text() const;
};

/// Throws std::invalid_argument with the field, its value, the accepted values, and what to do
/// next.
[[noreturn]] void refuse(std::string_view field, const std::string& value,
                         const std::string& accepted, const std::string& next = {});
/// Throws std::invalid_argument for an integer field. `text`: the user's value, which may not be a
/// number.
[[noreturn]] void refuse_integer(std::string_view field, const std::string& text,
                                 const std::string& accepted);
/// Throws std::invalid_argument for a value that is legal only with another field. Example of a
/// message: "--keep_prob=0.5 needs a drop mask: add --drop_mask=exact".
[[noreturn]] void refuse_alone(std::string_view field, const std::string& value,
                               const std::string& lack, const std::string& next);

/// Returns the shortest text that parses to the same number.
std::string number_text(double value);
/// Returns the number with three significant digits, such as "4.61e+18".
std::string about_text(double value);

/// Throws std::invalid_argument if the name is not in `named`.
void require_named(std::string_view field, const std::string& value,
                   std::span<const InputProfile> named);

/// Memory limit (bytes) of a case with output values.
inline constexpr double memory_limit = 16.0 * 1024 * 1024 * 1024;

/// The size of a case: elements of its largest tensor, bytes of all tensors, and whether output
/// values are computed.
struct Demand {
  double largest_tensor, bytes;
  bool with_numbers;
};
/// Throws if a tensor has more than 2^59 elements, or if a case with output values (`with_numbers`)
/// needs more than `memory_limit`. Errors: std::invalid_argument; it names the fields to reduce,
/// such as "batch, heads_q, seq_q or seq_kv".
void require_size(const Demand& demand, std::string_view fields);
/// Throws std::invalid_argument if `bytes` is more than `memory_limit`. The message names the
/// fields to reduce.
void require_memory(double bytes, std::string_view fields);

/// Returns whether the case tests a relation (a statement about several runs). Throws
/// std::invalid_argument if the case names a relation but its track (test method) is not
/// `relation`; if its track is `relation` but it names none of the relations in `names`; or if the
/// profile of its inputs is not normal, because the data of the runs could overflow or underflow.
bool require_track(Track track, const std::string& relation, const std::string& profile,
                   const std::string& names);

/// Returns the names of the relations (statements about several runs), and `other`. The field
/// `relation` of a case also accepts the name `other`, although it is not a relation.
template <class Relation>
std::string names_of(const std::vector<const Relation*>& known, std::string_view other = {}) {
  std::string names(other);
  for (const Relation* relation : known)
    names += (names.empty() ? "" : ", ") + std::string(relation->name);
  return names;
}

/// Finds the relation (statement about several runs) with this name. Errors: std::invalid_argument
/// with the accepted names if the name is unknown.
template <class Relation>
const Relation& relation_named(const std::vector<const Relation*>& known, std::string_view name,
                               std::string_view other = {}) {
  for (const Relation* relation : known)
    if (relation->name == name) return *relation;
  refuse("relation", std::string(name), names_of(known, other));
}

/// Throws the errors of `require_track`. Also throws if the relation (statement about several runs)
/// is unknown or does not apply to the problem.
template <class Op, class Relation>
void require_relation(const Case<Op>& c, const std::vector<const Relation*>& known,
                      std::string_view other = {}) {
  if (!require_track(c.track, c.relation, c.profile, names_of(known, other))) return;
  const Relation& relation = relation_named(known, c.relation, other);
  if (!relation.applies(c.problem))
    refuse("relation", c.relation,
           "a case to which the relation applies: " + std::string(relation.domain) +
               "; 'assay explain " + c.relation + "' prints examples");
}

/// The list of all lengths of queries (or of keys), and the field that contains the longest length.
struct LengthFields {
  std::string_view lengths_name;
  std::vector<std::int64_t>& lengths;
  std::string_view longest_name;
  std::int64_t& longest;
};
/// If the lengths are given, sets the batch size and the longest length from them. If all lengths
/// are equal, only the longest length is kept. given(name) returns whether the user wrote this
/// field. Errors: std::invalid_argument if a field that the user wrote contradicts the lengths.
void settle_lengths(std::int64_t& batch, const LengthFields& fields,
                    const std::function<bool(std::string_view)>& given);
/// Throws if the list of query lengths and the list of key lengths differ in size.
void require_as_many(const std::vector<std::int64_t>& lengths_q,
                     const std::vector<std::int64_t>& lengths_kv);

template <class Op>
void SuiteDefaults<Op>::settle_extents(
    [[maybe_unused]] Problem& p,
    [[maybe_unused]] const std::function<bool(std::string_view)>& given) {
  if constexpr (requires { p.lengths; })
    settle_lengths(p.batch, {"lengths", p.lengths, "seq", p.seq}, given);
  if constexpr (requires { p.lengths_q; }) {
    require_as_many(p.lengths_q, p.lengths_kv);
    settle_lengths(p.batch, {"lengths_q", p.lengths_q, "seq_q", p.seq_q}, given);
    settle_lengths(p.batch, {"lengths_kv", p.lengths_kv, "seq_kv", p.seq_kv}, given);
  }
}

template <class Op>
void SuiteDefaults<Op>::imply_extents([[maybe_unused]] const Problem& given,
                                      [[maybe_unused]] Problem& implied) {
  if constexpr (requires { given.lengths; })
    if (!given.lengths.empty()) implied.batch = given.batch, implied.seq = given.seq;
  if constexpr (requires { given.lengths_q; }) {
    if (!given.lengths_q.empty()) implied.batch = given.batch, implied.seq_q = given.seq_q;
    if (!given.lengths_kv.empty()) implied.batch = given.batch, implied.seq_kv = given.seq_kv;
  }
}

}  // namespace assay::conformance
