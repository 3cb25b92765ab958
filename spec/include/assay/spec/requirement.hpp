#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/status.hpp"

namespace assay::spec {

/// The document or source file of the vendor that states a requirement, and the section in it.
struct Source {
  std::string_view document, section;
};

/// The rule about calls that a kernel must accept and calls that it must refuse, as text for users.
/// It is the same for every operator and entry point. The function `must_refuse` implements the
/// rule.
inline constexpr std::string_view rule_of_documents =
    "A kernel must accept what a page offers. It must refuse what a page forbids. If the vendor's "
    "own code accepts a call that a page forbids, and the page names no status code for this call, "
    "the call is open: a kernel may accept or refuse it. If the pages contradict each other about "
    "a call, or do not say what the call means, the call is disputed: a kernel may accept or "
    "refuse it, too. If only the vendor's code forbids a call, a kernel must refuse it. "
    "--documents=strict: a kernel must refuse open calls. --upstream=off: a kernel may accept a "
    "call that only the vendor's code forbids.";

/// The kind of source that states a requirement for an entry point; `sentence_of` describes each
/// kind. In these descriptions "accepts" means that the vendor's own code is known to give a
/// result, because one of the following is true: a vendor test makes the call, the vendor's kernel
/// has a path for it, or the vendor's code never reads the argument. A missing check alone is not
/// enough.
enum class Standing : std::uint8_t { documented, page, derived, open, disputed, upstream, advice };
/// How a test case can test a requirement. accept, reject: with a call that a kernel must accept,
/// or must refuse. content: the requirement is about tensor elements, which phase 1 (the argument
/// check) does not see. none: no case can test it.
enum class Side : std::uint8_t { accept, reject, content, none };

template <>
inline constexpr auto spellings_of<Standing> = Spellings<Standing, 7>{{{
    {Standing::documented, "documented"},
    {Standing::page, "page"},
    {Standing::derived, "derived"},
    {Standing::open, "open"},
    {Standing::disputed, "disputed"},
    {Standing::upstream, "upstream"},
    {Standing::advice, "advice"},
}}};
template <>
inline constexpr auto spellings_of<Side> = Spellings<Side, 4>{{{
    {Side::accept, "accept"},
    {Side::reject, "reject"},
    {Side::content, "content"},
    {Side::none, "none"},
}}};

/// User option for calls that only the vendor's code forbids. on: a kernel must refuse them; off: a
/// kernel may refuse or accept them.
enum class Upstream : std::uint8_t { on, off };
/// User option for calls about which the documentation leaves a question open. lenient: a kernel
/// may refuse or accept them; strict: a kernel must refuse them.
enum class Documents : std::uint8_t { lenient, strict };

template <>
inline constexpr auto spellings_of<Upstream> =
    Spellings<Upstream, 2>{{{{Upstream::on, "on"}, {Upstream::off, "off"}}}};
template <>
inline constexpr auto spellings_of<Documents> =
    Spellings<Documents, 2>{{{{Documents::lenient, "lenient"}, {Documents::strict, "strict"}}}};

/// The options of the user that change the set of calls that a kernel must refuse.
struct Policy {
  Upstream upstream = Upstream::on;
  Documents documents = Documents::lenient;

  friend bool operator==(const Policy&, const Policy&) = default;
};

/// Returns whether a kernel must refuse a call that breaks a requirement from this kind of source.
/// If the result is false, the judge only reports the kernel's answer: both accepting and refusing
/// are correct.
constexpr bool must_refuse(Standing standing, const Policy& policy) {
  switch (standing) {
    case Standing::documented:
    case Standing::page:
    case Standing::derived:
      return true;
    case Standing::open:
      return policy.documents == Documents::strict;
    case Standing::upstream:
      return policy.upstream == Upstream::on;
    case Standing::disputed:
    case Standing::advice:
      break;
  }
  return false;
}

/// Returns a text that describes a kind of source, and what a kernel must do because of a
/// requirement from such a source.
constexpr std::string_view sentence_of(Standing standing) {
  switch (standing) {
    case Standing::documented:
      return "the page of this entry point states this requirement: a kernel must refuse a call "
             "that breaks it";
    case Standing::page:
      return "the public page of this entry point, its only page, states this requirement: a "
             "kernel must refuse a call that breaks it";
    case Standing::derived:
      return "this requirement follows from what the page says: a kernel must refuse a call that "
             "breaks it";
    case Standing::open:
      return "the page forbids a call that breaks this requirement, but the vendor's own code "
             "accepts such a call: a kernel may accept or refuse it; with --documents=strict it "
             "must refuse it";
    case Standing::disputed:
      return "the pages contradict each other about a call that breaks this requirement, or do not "
             "say what such a call means: a kernel may accept or refuse it";
    case Standing::upstream:
      return "only the vendor's code contains this requirement: a kernel must refuse a call that "
             "breaks it; with --upstream=off it may accept it";
    case Standing::advice:
      break;
  }
  return "this is advice, which no call can break";
}

/// The status code that a refusal must return: one documented code, or any code except success.
struct ExpectedStatus {
  bool any = true;
  Status code = Status::param_invalid;
};
inline constexpr ExpectedStatus any_refusal = {};
constexpr ExpectedStatus exactly(Status code) { return {.any = false, .code = code}; }

/// One way to break a requirement: a change of a legal call.
template <class Op>
struct Violation {
  std::string_view name;  ///< unique within the requirement, e.g. the parameter that is broken
  void (*apply)(Call<Op>& call);
};

/// A change of a legal call that tests a requirement and keeps the call legal, such as passing a
/// reserved tensor. The expected values do not change. If the variant does not apply to a call, it
/// leaves the call unchanged.
template <class Op>
struct Variant {
  std::string_view name;  ///< unique within the requirement
  void (*apply)(Call<Op>& call);
};

/// A requirement: one documented rule about calls, with its id in the specification.
template <class Op>
struct Requirement {
  std::string_view id;
  std::string_view statement;
  Source source;
  Standing standing;  ///< the source that states it, see `standing_on`
  /// For rules of the kind `documented`: the entry points whose documentation page contains the
  /// requirement. Empty: all entry points.
  std::span<const typename Op::EntryPoint> stated_for = {};
  /// For entry points that only the public documentation describes: the entry points whose page
  /// contains the requirement.
  std::span<const typename Op::EntryPoint> page_for = {};
  std::vector<Side> sides = {Side::accept, Side::reject};
  std::string_view notes =
      {};  ///< ids of the contradictions and open points that touch the requirement
  std::vector<std::string_view> implies =
      {};                               ///< requirements that are broken whenever this one is
  ExpectedStatus status = any_refusal;  ///< see `status_on`
  /// The entry points whose page names the status code. Empty: all entry points whose page contains
  /// the requirement.
  std::span<const typename Op::EntryPoint> status_for = {};
  /// Returns whether the requirement concerns this call.
  bool (*applies)(const Call<Op>& call) = always;
  /// Returns whether the call satisfies the requirement. Also true if the requirement does not
  /// apply.
  bool (*holds)(const Call<Op>& call) = always;
  /// For a requirement that sets a limit: returns whether a legal call is exactly at the limit.
  /// Only such a call tests whether a kernel accepts the limit. Null means that the requirement has
  /// no limit: every call to which it applies is such a test.
  bool (*reaches)(const Call<Op>& call) = nullptr;
  std::vector<Violation<Op>> violations = {};
  std::vector<Variant<Op>> variants = {};  ///< for requirements with an accept side
  std::string_view reason =
      {};  ///< for requirements without accept and reject side: why no case exercises them

  static bool always(const Call<Op>&) { return true; }

  /// Returns the kind of source that states the requirement for an entry point. The kind is
  /// `upstream` (only the vendor's code) if the requirement is documented only for other entry
  /// points.
  Standing standing_on(typename Op::EntryPoint entry_point) const {
    if (standing != Standing::documented && standing != Standing::page) return standing;
    if (lists(page_for, entry_point)) return Standing::page;
    return is_of(entry_point) ? standing : Standing::upstream;
  }
  /// Returns whether a documentation page of the entry point contains the requirement. If so, a
  /// test plan must contain cases for it.
  bool is_stated_on(typename Op::EntryPoint entry_point) const {
    const bool is_of_pages = standing == Standing::documented || standing == Standing::page ||
                             standing == Standing::open;
    return is_of_pages && is_of(entry_point);
  }
  /// Returns whether a kernel must refuse a call that breaks the requirement.
  bool binds(typename Op::EntryPoint entry_point, const Policy& policy) const {
    return must_refuse(standing_on(entry_point), policy);
  }
  /// Returns the status code with which a kernel must refuse a call on an entry point. The code is
  /// specific only if the entry point's documentation page names one.
  ExpectedStatus status_on(typename Op::EntryPoint entry_point) const {
    const Standing own = standing_on(entry_point);
    const bool is_listed = lists(status_for, entry_point);
    const bool is_stated = standing == Standing::page || own == Standing::documented;
    const bool named =
        is_stated ? status_for.empty() || is_listed : own == Standing::page && is_listed;
    return named ? status : any_refusal;
  }
  /// Returns whether this legal call is a test of the requirement: a kernel that is too strict
  /// would refuse it.
  bool is_exercised_by(const Call<Op>& call) const {
    return has(Side::accept) && applies(call) && (reaches == nullptr || reaches(call));
  }
  bool has(Side side) const {
    for (const Side own : sides)
      if (own == side) return true;
    return false;
  }

 private:
  /// Returns whether the entry point's page contains the requirement.
  bool is_of(typename Op::EntryPoint entry_point) const {
    return (stated_for.empty() && page_for.empty()) || lists(stated_for, entry_point) ||
           lists(page_for, entry_point);
  }
  static bool lists(std::span<const typename Op::EntryPoint> entry_points,
                    typename Op::EntryPoint entry_point) {
    for (const auto own : entry_points)
      if (own == entry_point) return true;
    return false;
  }
};

/// Returns the requirements that `call` breaks, in the order of the table.
template <class Op>
std::vector<const Requirement<Op>*> violations(std::span<const Requirement<Op>> requirements,
                                               const Call<Op>& call) {
  std::vector<const Requirement<Op>*> broken;
  for (const auto& requirement : requirements)
    if (!requirement.holds(call)) broken.push_back(&requirement);
  return broken;
}

}  // namespace assay::spec
