#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <set>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>

#include "assay/conformance/suite.hpp"
#include "assay/spec/attention_problem.hpp"
#include "assay/spec/requirement.hpp"
#include "case/limits.hpp"
#include "case/user_formula.hpp"

namespace assay::conformance {
namespace detail {

/// Returns the shortest text that parses to the same number.
template <class Number>
std::string number_text(Number value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

template <class Member>
std::string text_of(const Member& member) {
  if constexpr (std::same_as<Member, std::string>)
    return member;
  else if constexpr (std::is_enum_v<Member>)
    return std::string(spec::to_string(member));
  else if constexpr (std::same_as<Member, spec::Strides>)
    return spec::to_text(member);
  else if constexpr (std::same_as<Member, std::vector<std::int64_t>>)
    return list_text(member);
  else
    return number_text(member);
}

/// Largest number of elements of a host array that a replay line (the text of a case) may contain.
inline constexpr std::int64_t longest_list = 4096;

template <class Number>
bool parse_whole(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Splits a list at its commas. An empty text has no items.
std::vector<std::string_view> items_of(std::string_view text);

template <class Op>
FieldRange range_of(std::string_view name) {
  for (const FieldRange& range : Suite<Op>::field_ranges())
    if (range.name == name) return range;
  throw std::logic_error("field " + std::string(name) + " has no range");
}

/// Parses a list such as "3,2x512", which means the number 3, then 512 twice.
template <class Op>
std::vector<std::int64_t> parse_list(std::string_view name, std::string_view text) {
  const FieldRange range = range_of<Op>(name);
  std::vector<std::int64_t> values;
  for (const std::string_view item : items_of(text)) {
    const std::size_t times = item.find('x');
    std::int64_t count = 1, value = 0;
    const bool repeated = times != std::string_view::npos;
    if ((repeated && !parse_whole(item.substr(0, times), count)) || count < 1 ||
        count > longest_list - static_cast<std::int64_t>(values.size()) ||
        !parse_whole(repeated ? item.substr(times + 1) : item, value) || !range.has(value))
      refuse(name, std::string(text),
             "up to " + number_text(longest_list) +
                 " numbers or COUNTxNUMBER between commas, each " + number_text(range.first) +
                 " to " + number_text(range.last));
    values.insert(values.end(), static_cast<std::size_t>(count), value);
  }
  return values;
}

/// Returns the names of all inputs, or of all outputs, in the order of their declaration.
template <class Tensors>
std::vector<std::string_view> tensor_names() {
  std::vector<std::string_view> names;
  const Tensors none{};
  visit_fields(none, [&](std::string_view name, const auto&) { names.push_back(name); });
  return names;
}

/// Parses a text that describes strides, such as "padded", "dy:transposed,value:padded" or
/// "padded,dy:mixed". `tensors`: the tensor names that the text may use.
spec::Strides parse_strides(std::string_view field, std::string_view text,
                            const std::vector<std::string_view>& tensors);

template <class Op, class Member>
void parse_member(std::string_view name, std::string_view text, Member& member) {
  if constexpr (std::same_as<Member, std::string>) {
    if (text.empty()) refuse(name, std::string(text), "a word");
    member = text;
  } else if constexpr (std::same_as<Member, spec::Strides>) {
    member = parse_strides(name, text,
                           name == "outputs" ? tensor_names<typename Op::Outputs>()
                                             : tensor_names<typename Op::Inputs>());
  } else if constexpr (std::is_enum_v<Member>) {
    const auto value = spec::spellings_of<Member>.parse(text);
    if (!value) refuse(name, std::string(text), spec::spellings_of<Member>.choices());
    member = *value;
  } else if constexpr (std::same_as<Member, double>) {
    if (!parse_whole(text, member) || !std::isfinite(member))
      refuse(name, std::string(text), "a finite number");
  } else if constexpr (std::same_as<Member, std::uint64_t>) {
    if (!parse_whole(text, member))
      refuse_integer(name, std::string(text), "0 to 18446744073709551615");
  } else if constexpr (std::same_as<Member, std::vector<std::int64_t>>) {
    member = parse_list<Op>(name, text);
  } else {
    static_assert(std::same_as<Member, std::int64_t>);
    const FieldRange range = range_of<Op>(name);
    if (!parse_whole(text, member) || !range.has(member))
      refuse_integer(name, std::string(text), range.text());
  }
}

template <class Op>
std::vector<std::string> field_names() {
  std::vector<std::string> names;
  const Case<Op> any;
  visit_case_fields(any, [&](std::string_view name, const auto&, std::string_view) {
    names.push_back("--" + std::string(name));
  });
  return names;
}

/// Throws std::invalid_argument for a word with an unknown field name. The message has the most
/// similar field name and all field names.
[[noreturn]] void refuse_field(const std::string& word, const std::vector<std::string>& fields);

/// Parses the fields of a case from the words of its text. Does not check whether they make a valid
/// call.
template <class Op>
Case<Op> read_fields(const std::vector<std::string>& words) {
  Case<Op> c;
  std::set<std::string, std::less<>> seen;
  for (const std::string& given : words) {
    const std::string& word = given;
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--") || equals == std::string::npos)
      throw std::invalid_argument("'" + word + "': accepted: --name=value");
    const std::string name = word.substr(2, equals - 2), value = word.substr(equals + 1);
    if (!seen.insert(name).second)
      throw std::invalid_argument("'" + word + "': --" + name + " is given twice");
    bool known = false;
    visit_case_fields(c, [&](std::string_view field, auto& member, std::string_view) {
      if (field != name) return;
      parse_member<Op>(field, value, member);
      known = true;
    });
    if (!known) refuse_field(word, field_names<Op>());
  }
  Suite<Op>::settle_extents(c.problem,
                            [&](std::string_view field) { return seen.contains(field); });
  return c;
}

/// Returns the words of the case that cause the violation. If any one of them is left out, the call
/// satisfies the requirement.
template <class Op>
std::string culprits(const std::vector<std::string>& words, const spec::Requirement<Op>& row) {
  std::string found;
  for (const std::string& word : words) {
    std::vector<std::string> others = words;
    std::erase(others, word);
    try {
      if (row.holds(call_of(read_fields<Op>(others)))) found += (found.empty() ? "" : " ") + word;
    } catch (const std::exception&) {
      continue;  // without this word, the others do not make a call
    }
  }
  return found;
}

/// Throws if the call breaks a requirement. The message contains the first broken requirement, the
/// words that cause this, the status that the documentation requires, and what to do.
template <class Op>
void require_legal(const Case<Op>& c, const std::vector<std::string>& words) {
  const auto call = call_of(c);
  const spec::Requirement<Op>* first = nullptr;
  std::string others;
  for (const auto* row : spec::violations(Op::requirements(), call)) {
    if (!row->binds(c.entry_point, c.policy())) continue;
    if (first == nullptr)
      first = row;
    else
      others += (others.empty() ? "" : ", ") + std::string(row->id);
  }
  if (first == nullptr) return;
  const std::string by = culprits(words, *first);
  const spec::ExpectedStatus status = first->status_on(c.entry_point);
  const auto code = static_cast<std::int32_t>(status.code);
  throw std::invalid_argument(
      "the case breaks " + std::string(first->id) + " (" + std::string(first->statement) + ")" +
      (by.empty() ? "" : " by " + by) + (others.empty() ? "" : ", and with it " + others) +
      "; a kernel must refuse it with " +
      (status.any ? "any status but success"
                  : number_text(code) + " " + std::string(spec::to_string(status.code))) +
      "; 'assay explain " + std::string(first->id) +
      "' says what is allowed; the call: " + command_line(c));
}

/// Throws if the case sets strides for a tensor that the call does not have.
template <class Op>
void require_named_tensors(const Case<Op>& c) {
  if (c.inputs.named().empty() && c.outputs.named().empty()) return;
  std::vector<std::string_view> present;
  const auto call = call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
  visit_fields(call.parameters, [&]<class Member>(std::string_view name, const Member& member) {
    if constexpr (std::same_as<Member, spec::Parameter>)
      if (member.present) present.push_back(name);
  });
  for (const auto& [field, strides] : {std::pair("inputs", &c.inputs), {"outputs", &c.outputs}})
    for (const auto& [name, striding] : strides->named())
      if (std::ranges::find(present, name) == present.end())
        refuse(field, to_text(*strides),
               "names of tensors that the call has; the call has no " + name);
}

/// Throws if a name is unknown, or if the tensors of the case cannot be created.
template <class Op>
void require_possible(const Case<Op>& c) {
  Suite<Op>::require_possible(c);
  if (is_formula(c.variant) && !std::same_as<typename Op::Problem, spec::AttentionProblem>)
    refuse("variant", c.variant, "ID:name: this operator does not accept formulas");
  require_named_tensors(c);
  require_named("profile", c.profile, Suite<Op>::profiles());
  for (const PatternField<Op>& pattern : Suite<Op>::patterns())
    require_named(pattern.field, c.patterns.*pattern.member, pattern.names());
  if (c.track != Track::arguments && !c.violate.empty())
    refuse("violate", c.violate, "no --violate without --track=arguments; add --track=arguments");
  if (c.track == Track::relation && Suite<Op>::relations().empty())
    refuse("track", "relation",
           "a track other than relation: no relations are defined for this operator");
}

/// Throws if the requirement that `variant` names does not apply to the call, for example if the
/// entry point does not have the parameter. Such a case would test nothing. Also throws if a case
/// of the track `relation` (comparison of several runs) has a variant, because a relation makes its
/// own calls.
template <class Op>
void require_met(const Case<Op>& c) {
  if (c.variant.empty()) return;
  if (c.track == Track::relation) refuse("variant", c.variant, "none with --track=relation");
  Case<Op> legal = c;
  legal.violate.clear();
  const auto call = call_of(legal);
  if (is_formula(c.variant)) return;
  const std::string_view id = requirement_named_in(c.variant);
  for (const auto& row : Op::requirements())
    if (row.id == id && !row.applies(call))
      refuse("variant", c.variant,
             "where " + std::string(id) + " applies to the call, as 'assay explain " +
                 std::string(id) + "' says");
}

/// The field `violate` names a requirement that the call must violate. Throws if the call satisfies
/// this requirement. Otherwise a correct kernel, which accepts the call, would fail.
template <class Op>
void require_broken(const Case<Op>& c) {
  const auto call = call_of(c);
  const std::string id(requirement_named_in(c.violate));
  for (const auto& row : Op::requirements())
    if (row.id == id && row.holds(call))
      refuse(
          "violate", c.violate,
          "a call that breaks " + id + ", such as the call that 'assay explain " + id + "' prints");
}

}  // namespace detail

template <class Op>
std::vector<std::pair<std::string, std::string>> field_texts(const Case<Op>& c) {
  std::vector<std::pair<std::string, std::string>> texts;
  visit_case_fields(c, [&](std::string_view name, const auto& member, std::string_view) {
    texts.emplace_back(name, detail::text_of(member));
  });
  return texts;
}

template <class Op>
std::string command_line(const Case<Op>& c) {
  Case<Op> implied;
  Suite<Op>::imply_extents(c.problem, implied.problem);
  const auto texts = field_texts(c), defaults = field_texts(implied);
  std::string line(Op::name);
  for (std::size_t k = 0; k < texts.size(); ++k)
    if (texts[k] != defaults[k]) line += " --" + texts[k].first + "=" + texts[k].second;
  return line;
}

template <class Op>
Case<Op> parse_case(const std::vector<std::string>& words) {
  const Case<Op> c = detail::read_fields<Op>(words);
  detail::require_possible(c);
  detail::require_met(c);
  Case<Op> legal = c;
  legal.violate.clear();
  detail::require_legal(legal, words);
  if (!c.violate.empty()) detail::require_broken(c);
  return c;
}

namespace detail {

/// Changes the call as `way` says. `way` has the form "ID:name" and names a legal variant or a
/// violation of requirement ID. `ways`: the struct member that lists the variants or violations.
/// Does nothing if `way` is empty.
template <class Op, class Way>
void apply_way(std::string_view field, const std::string& way,
               std::vector<Way> spec::Requirement<Op>::*ways, spec::Call<Op>& call) {
  if (way.empty() || is_formula(way)) return;
  const std::string id(requirement_named_in(way));
  std::string known;
  for (const auto& row : Op::requirements()) {
    if (row.id != id) continue;
    for (const auto& [name, apply] : row.*ways) {
      const std::string own = id + ":" + std::string(name);
      if (own == way) return apply(call);
      known += (known.empty() ? "" : ", ") + own;
    }
  }
  refuse(field, way,
         known.empty() ? "ID:name as 'assay explain ID' prints it, see 'assay list requirements'"
                       : known);
}

}  // namespace detail

template <class Op>
spec::Call<Op> call_of(const Case<Op>& c) {
  auto call = call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
  detail::apply_way("variant", c.variant, &spec::Requirement<Op>::variants, call);
  detail::apply_way("violate", c.violate, &spec::Requirement<Op>::violations, call);
  return call;
}

}  // namespace assay::conformance
