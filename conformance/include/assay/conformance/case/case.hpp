#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/requirement.hpp"
#include "assay/spec/striding.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::conformance {

/// How the numbers of a case are judged.
/// exact, exact_staged: every bit is due (staged values are exact, or rounded with ties); bound:
/// every element has a tolerance; arguments: no
/// numbers, the call itself is judged; relation: several runs are compared with each other.
enum class Track : std::uint8_t { exact, exact_staged, bound, arguments, relation };

/// What the suite knows of an operator: suite.hpp lists it. Every operator has a specialisation.
template <class Op>
struct Suite;

/// A named way to fill the tensors, in one sentence.
struct InputProfile {
  std::string_view name, sentence;
};

template <class Op>
struct Case;

/// A word of a case that names the contents of a tensor, where an input profile leaves them open.
template <class Op>
struct PatternField {
  using Patterns = typename Suite<Op>::Patterns;

  std::string_view field;
  std::string Patterns::*member;
  std::string_view meaning;
  std::span<const InputProfile> (*names)();  ///< that it can name
};

/// One call, as plain data: everything that its replay line says. Values of tensors are a pure
/// function of it.
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
  std::string variant;   ///< "ID:name", another legal way to make the call; empty: the plain one
  std::string violate;   ///< "ID:name" of the requirement that the call breaks; empty: a legal call
  spec::Upstream upstream =
      spec::Upstream::on;  ///< off: a call that upstream alone forbids may be accepted
  spec::Documents documents =
      spec::Documents::lenient;  ///< strict: a call that is open must be refused
  std::int64_t rows = 0;         ///< judged rows per (batch, head); 0: all
  std::uint64_t seed = 1;
  std::string note;  ///< not part of the replay line: where the case comes from, what was cut

  spec::Policy policy() const { return {.upstream = upstream, .documents = documents}; }

  friend bool operator==(const Case&, const Case&) = default;
};

/// Calls visit(name, member, meaning) for every field of a case that its replay line holds, the
/// problem's first.
template <class CaseType, class Visitor>
void visit_case_fields(CaseType& c, Visitor&& visit) {
  visit_fields(c.problem, visit);
  visit("entry_point", c.entry_point, "entry point");
  visit("product", c.product, "product on which it is called");
  visit("inputs", c.inputs,
        "striding of the inputs, or NAME:STRIDING of some, e.g. dy:transposed,value:padded");
  visit("outputs", c.outputs, "striding of the outputs, or NAME:STRIDING of some");
  visit("track", c.track,
        "exact, exact_staged: every bit is due; bound: tolerance; arguments: the call alone; "
        "relation: "
        "runs compared");
  visit("profile", c.profile, "input profile of track bound");
  for (const auto& pattern : Suite<typename CaseType::Operator>::patterns())
    visit(pattern.field, c.patterns.*pattern.member, pattern.meaning);
  visit("relation", c.relation, "relation between runs, of track relation");
  visit("variant", c.variant,
        "ID:name, another legal way to make the call, see 'assay explain ID'");
  visit("violate", c.violate, "ID:name, the requirement that the call breaks");
  visit("upstream", c.upstream,
        "whether a kernel must refuse what the vendor's code alone forbids: on, off");
  visit("documents", c.documents,
        "whether a kernel must refuse what a page forbids and the vendor's code accepts: lenient, "
        "strict");
  visit("rows", c.rows, "judged rows per batch and head, 0: all");
  visit("seed", c.seed, "seed of every tensor");
}

/// "3,2x512": the numbers between commas, runs of equal ones as COUNTxNUMBER.
std::string list_text(const std::vector<std::int64_t>& values);

/// Every field that the replay line holds, as text: (name, value) in the order of
/// `visit_case_fields`.
template <class Op>
std::vector<std::pair<std::string, std::string>> field_texts(const Case<Op>& c);

/// "<operator> --dtype=bf16 ...": canonical, defaults omitted, parses back to an
/// equal case.
template <class Op>
std::string command_line(const Case<Op>& c);

/// The case that the words "--name=value" describe. Errors: std::invalid_argument naming the word,
/// its value and what is accepted.
template <class Op>
Case<Op> parse_case(const std::vector<std::string>& words);

/// "assay run LINE --implementation=NAME", as a shell takes it.
std::string replay_command(const std::string& command_line, const std::string& implementation);

/// The words after the operator's name of a replay line. Errors: std::invalid_argument for another
/// operator.
std::vector<std::string> case_words(const std::string& command_line,
                                    std::string_view operator_name);

/// 12 hexadecimal digits of a hash of the replay line.
std::string case_id(std::string_view command_line);

/// The call that the case makes, its variant and its violation applied. Errors:
/// std::invalid_argument for an unknown one.
template <class Op>
spec::Call<Op> call_of(const Case<Op>& c);

/// The requirement that a variant or a violation "ID:name" belongs to.
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
