#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/attention_problem.hpp"
#include "assay/spec/call.hpp"
#include "assay/spec/requirement.hpp"
#include "assay/spec/striding.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::conformance {

/// The track of a case: the method by which it is judged. exact, exact_staged: every output bit
/// must match. In exact_staged, the values that the kernel rounds to 16 bits are representable, or
/// they are ties. bound: every element has a tolerance. arguments: only the reaction to the call is
/// judged, no output is computed. relation: several runs are compared with each other.
enum class Track : std::uint8_t { exact, exact_staged, bound, arguments, relation };

/// The parts of the judge that depend on the operator. Every operator has a specialisation;
/// suite.hpp lists the members.
template <class Op>
struct Suite;

/// A named way to fill the tensors, with a one-sentence description.
struct InputProfile {
  std::string_view name, sentence;
};

template <class Op>
struct Case;

/// A field of a case that selects the contents of one tensor, such as a mask, that the input
/// profile (the distribution of values) does not fill.
template <class Op>
struct PatternField {
  using Patterns = typename Suite<Op>::Patterns;

  std::string_view field;
  std::string Patterns::*member;
  std::string_view meaning;
  std::span<const InputProfile> (*names)();  ///< the accepted names
};

/// One test call as plain data: all fields of its replay line (the text that describes the case).
/// The fields determine the values of all tensors.
template <class Op>
struct Case {
  using Operator = Op;

  typename Op::Problem problem;
  typename Op::EntryPoint entry_point{};
  spec::Product product = spec::Product::a2;
  spec::Strides inputs, outputs;
  Track track = Track::bound;
  std::string profile = "normal";  ///< input profile of track bound, see `profiles()`
  typename Suite<Op>::Patterns patterns;
  std::string relation;  ///< track relation: its name, see `list relations`
  /// Another way to make the call. "ID:name": a legal variant of a requirement; "formula:...": a
  /// user's formula (docs/variants.md); empty: the default call.
  std::string variant;
  /// "kv:0-511" or "q:0-127": only the gradient of these keys (queries) is judged
  /// (docs/partial_gradients.md); empty: the whole gradient.
  std::string part;
  std::string violate;  ///< "ID:name" of the requirement that the call breaks; empty: a legal call
  spec::Upstream upstream =
      spec::Upstream::on;  ///< off: a kernel may accept a call that only the upstream code forbids
  spec::Documents documents =
      spec::Documents::lenient;  ///< strict: a kernel must refuse an open call
  std::int64_t rows = 0;         ///< judged rows per (batch, head); 0: all
  std::uint64_t seed = 1;
  std::string note;  ///< not in the replay line: origin of the case, and what was reduced

  spec::Policy policy() const { return {.upstream = upstream, .documents = documents}; }

  friend bool operator==(const Case&, const Case&) = default;
};

/// Calls visit(name, member, meaning) for every field of a case's replay line. The fields of the
/// problem come first.
template <class CaseType, class Visitor>
void visit_case_fields(CaseType& c, Visitor&& visit) {
  visit_fields(c.problem, visit);
  visit("entry_point", c.entry_point, "entry point");
  visit("product", c.product, "Atlas product on which the operator is called");
  visit("inputs", c.inputs,
        "striding of the inputs, or NAME:STRIDING of some, e.g. dy:transposed,value:padded");
  visit("outputs", c.outputs, "striding of the outputs, or NAME:STRIDING of some");
  visit("track", c.track,
        "exact, exact_staged: every bit must match; bound: errors within tolerances; arguments: no "
        "outputs; relation: several runs are compared");
  visit("profile", c.profile,
        "input profile, which says how tensors are filled; only with track bound");
  for (const auto& pattern : Suite<typename CaseType::Operator>::patterns())
    visit(pattern.field, c.patterns.*pattern.member, pattern.meaning);
  visit("relation", c.relation,
        "relation between several runs that the case checks; only with track relation");
  constexpr bool takes_formulas =
      std::same_as<typename CaseType::Operator::Problem, spec::AttentionProblem>;
  visit("variant", c.variant,
        takes_formulas ? "ID:name, another legal way to make the call, see 'assay explain ID'; or "
                         "formula:..., a score or a mask of your own: see docs/variants.md"
                       : "ID:name, another legal way to make the call, see 'assay explain ID'");
  if constexpr (requires { Suite<typename CaseType::Operator>::has_parts; })
    visit("part", c.part,
          "kv:FIRST-LAST or q:FIRST-LAST, the part of keys or queries whose gradient is judged; "
          "see docs/partial_gradients.md");
  visit("violate", c.violate, "ID:name, the requirement that the call breaks");
  visit("upstream", c.upstream,
        "on: a kernel must refuse calls that only the vendor's code forbids; off: it may accept "
        "them");
  visit("documents", c.documents,
        "strict: a kernel must refuse calls that a page forbids and the vendor's code accepts; "
        "lenient: it may accept them");
  visit("rows", c.rows, "judged rows per batch and head, 0: all");
  visit("seed", c.seed, "seed from which all tensors are generated");
}

/// Returns a list as text, for example "3,2x512": numbers separated by commas, COUNTxNUMBER for a
/// repeated number.
std::string list_text(const std::vector<std::int64_t>& values);

/// Returns every field of the replay line as text: (name, value), in the order of
/// `visit_case_fields`.
template <class Op>
std::vector<std::pair<std::string, std::string>> field_texts(const Case<Op>& c);

/// Returns the replay line of the case, "<operator> --dtype=bf16 ...", in canonical form. Omits
/// fields with their default value. Parsing the line gives an equal case.
template <class Op>
std::string command_line(const Case<Op>& c);

/// Parses a case from words of the form "--name=value". Errors: std::invalid_argument with the
/// word, its value and the accepted values.
template <class Op>
Case<Op> parse_case(const std::vector<std::string>& words);

/// Returns the command "assay run LINE --implementation=NAME", quoted for a shell.
std::string replay_command(const std::string& command_line, const std::string& implementation);

/// Returns the words of a replay line after the operator's name. Errors: std::invalid_argument if
/// the line names a different operator.
std::vector<std::string> case_words(const std::string& command_line,
                                    std::string_view operator_name);

/// Returns the id of a case: 12 hexadecimal digits of a hash of its replay line.
std::string case_id(std::string_view command_line);

/// Returns the kernel call of the case, with the change that its variant or violation makes.
/// Errors: std::invalid_argument for an unknown variant or violation.
template <class Op>
spec::Call<Op> call_of(const Case<Op>& c);

/// Returns the requirement id in the name "ID:name" of a variant or violation.
std::string_view requirement_named_in(std::string_view way);

}  // namespace assay::conformance

namespace assay::spec {

template <>
inline constexpr auto spellings_of<conformance::Track> = Spellings<conformance::Track, 5>{{{
    {conformance::Track::exact, "exact"},
    {conformance::Track::exact_staged, "exact_staged"},
    {conformance::Track::bound, "bound"},
    {conformance::Track::arguments, "arguments"},
    {conformance::Track::relation, "relation"},
}}};

}  // namespace assay::spec
