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
  /// Text of a range: "1 to 128", "16 to 128 in steps of 16" or "128 or 192", followed by the
  /// requirement, if there is one.
  std::string text() const;
};

/// Throws std::invalid_argument with the field, its value, the accepted values, and what to do
/// next.
[[noreturn]] void refuse(std::string_view field, const std::string& value,
                         const std::string& accepted, const std::string& next = {});
/// The same for the text of an integer field, which may be a word.
[[noreturn]] void refuse_integer(std::string_view field, const std::string& text,
                                 const std::string& accepted);
/// Throws std::invalid_argument for a value that is legal only with another field: "--keep_prob=0.5
/// needs a drop mask: add --drop_mask=exact".
[[noreturn]] void refuse_alone(std::string_view field, const std::string& value,
                               const std::string& lack, const std::string& next);

/// The shortest text that parses to the same number.
std::string number_text(double value);
/// The number with three significant digits: "4.61e+18".
std::string about_text(double value);

/// Throws std::invalid_argument if the name is not in `named`.
void require_named(std::string_view field, const std::string& value,
                   std::span<const InputProfile> named);

/// Largest memory of a case that computes outputs (bytes).
inline constexpr double memory_limit = 16.0 * 1024 * 1024 * 1024;

/// The size of a case: number of elements of its largest tensor, bytes of all tensors, and whether
/// the case computes outputs.
struct Demand {
  double largest_tensor, bytes;
  bool with_numbers;
};
/// Throws if a tensor has more than 2^59 elements, or if the case computes outputs (`with_numbers`)
/// and needs more than `memory_limit`. Errors: std::invalid_argument that names the fields to
/// reduce: "batch, heads_q, seq_q or seq_kv".
void require_size(const Demand& demand, std::string_view fields);
/// Throws if `bytes` is more than `memory_limit`, with the same message.
void require_memory(double bytes, std::string_view fields);

/// Returns whether the case has a relation. Throws std::invalid_argument for (a) a relation on a
/// track other than relation, (b) track relation without one of the relations in `names`, (c) a
/// relation with a profile other than normal, because its data could overflow or underflow.
bool require_track(Track track, const std::string& relation, const std::string& profile,
                   const std::string& names);

/// Returns `other` and the names of the relations. `other` is a name that the track accepts
/// although it is not a relation.
template <class Relation>
std::string names_of(const std::vector<const Relation*>& known, std::string_view other = {}) {
  std::string names(other);
  for (const Relation* relation : known)
    names += (names.empty() ? "" : ", ") + std::string(relation->name);
  return names;
}

/// Finds the relation with this name. Errors: std::invalid_argument with the accepted names.
template <class Relation>
const Relation& relation_named(const std::vector<const Relation*>& known, std::string_view name,
                               std::string_view other = {}) {
  for (const Relation* relation : known)
    if (relation->name == name) return *relation;
  refuse("relation", std::string(name), names_of(known, other));
}

/// Throws as `require_track` does, and also for a relation that is not in `known` or does not apply
/// to the problem.
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

/// The list of the lengths of queries or keys, and the field that contains the longest of
/// them.
struct LengthFields {
  std::string_view lengths_name;
  std::vector<std::int64_t>& lengths;
  std::string_view longest_name;
  std::int64_t& longest;
};
/// Sets the batch and the longest sequence from the lengths, if there are lengths. If all lengths
/// are equal, only the longest one is kept. `given` returns whether the user wrote a field. Errors:
/// std::invalid_argument if a field that the user wrote contradicts the lengths.
void settle_lengths(std::int64_t& batch, const LengthFields& fields,
                    const std::function<bool(std::string_view)>& given);
/// Throws if the lists of lengths of queries and of keys differ in size.
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
