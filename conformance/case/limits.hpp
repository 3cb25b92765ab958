#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"

namespace assay::conformance {

/// The values that an integer field of a case may take: first, first + step, ... last.
struct FieldRange {
  std::string_view name;
  std::int64_t first, last;
  std::string_view requirement =
      {};  ///< of the documents, that sets the limit; empty: the tool's own
  std::int64_t step = 1;

  bool has(std::int64_t value) const {
    return value >= first && value <= last && (value - first) % step == 0;
  }
  /// "1 to 128", "16 to 128 in steps of 16", "128 or 192"; where a requirement says so, also which.
  std::string text() const;
};

/// Throws std::invalid_argument: the field, its value, what is accepted, and `next`, what to do.
[[noreturn]] void refuse(std::string_view field, const std::string& value,
                         const std::string& accepted, const std::string& next = {});
/// Throws std::invalid_argument for a value that needs another field: "--keep_prob=0.5 drops, and
/// there is no drop mask: add --drop_mask=exact".
[[noreturn]] void refuse_alone(std::string_view field, const std::string& value,
                               const std::string& lack, const std::string& next);

/// The shortest text that reads back as the number.
std::string number_text(double value);
/// With three digits: "4.61e+18".
std::string about_text(double value);

/// Refuses a name that is not among those of `named`.
void require_named(std::string_view field, const std::string& value,
                   std::span<const InputProfile> named);

/// Largest memory that a case with numbers may need, in bytes.
inline constexpr double memory_limit = 16.0 * 1024 * 1024 * 1024;

/// Refuses a tensor whose elements cannot be numbered, and, where `with_numbers`, more than
/// `memory_limit`.
/// Errors: std::invalid_argument that says what to reduce: "batch, heads_q, seq_q or seq_kv".
struct Demand {
  double largest_tensor, bytes;
  bool with_numbers;
};
void require_size(const Demand& demand, std::string_view fields);
/// Refuses more bytes than `memory_limit`, likewise.
void require_memory(double bytes, std::string_view fields);

/// Refuses a relation without its track, a track without one of the relations in `names`, and hard
/// data, which would leave its domain by overflow or underflow. Whether there is a relation.
bool require_track(Track track, const std::string& relation, const std::string& profile,
                   const std::string& names);

/// Names of relations, `other` in front: what is judged in their track without being one.
template <class Relation>
std::string names_of(const std::vector<const Relation*>& known, std::string_view other = {}) {
  std::string names(other);
  for (const Relation* relation : known)
    names += (names.empty() ? "" : ", ") + std::string(relation->name);
  return names;
}

/// The one of that name. Errors: std::invalid_argument naming those there are.
template <class Relation>
const Relation& relation_named(const std::vector<const Relation*>& known, std::string_view name,
                               std::string_view other = {}) {
  for (const Relation* relation : known)
    if (relation->name == name) return *relation;
  refuse("relation", std::string(name), names_of(known, other));
}

/// Refuses what `require_track` does, a relation that is none of `known`, and one that does not
/// hold for the problem.
template <class Op, class Relation>
void require_relation(const Case<Op>& c, const std::vector<const Relation*>& known,
                      std::string_view other = {}) {
  if (!require_track(c.track, c.relation, c.profile, names_of(known, other))) return;
  const Relation& relation = relation_named(known, c.relation, other);
  if (!relation.applies(c.problem))
    refuse("relation", c.relation,
           "only in its domain, " + std::string(relation.domain) + "; 'assay explain " +
               c.relation + "' prints lines of it");
}

/// Fields of queries or keys that the lengths of sequences imply.
struct LengthFields {
  std::string_view lengths_name;
  std::vector<std::int64_t>& lengths;
  std::string_view longest_name;
  std::int64_t& longest;
};
/// Sets batch and the longest sequence from the lengths where there are any; equal lengths become
/// the longest alone. `given` tells which fields the user wrote. Errors: std::invalid_argument
/// where they contradict the lengths.
void settle_lengths(std::int64_t& batch, const LengthFields& fields,
                    const std::function<bool(std::string_view)>& given);
/// Refuses lengths of queries and keys of which there are not as many.
void require_as_many(const std::vector<std::int64_t>& lengths_q,
                     const std::vector<std::int64_t>& lengths_kv);

}  // namespace assay::conformance
