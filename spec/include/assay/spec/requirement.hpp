#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/status.hpp"

namespace assay::spec {

/// Where a requirement stands: a document or a file upstream, and the section in it.
struct Source {
  std::string_view document, section;
};

/// The rule of the documents, for every operator and entry point; `must_refuse` applies it.
inline constexpr std::string_view rule_of_documents =
    "A kernel must accept what a page offers. It must refuse what a page forbids. Where the "
    "vendor's own code accepts what a page forbids, and the page names no status code for it, the "
    "call is open: a kernel may accept or refuse it. Where the pages contradict each other, or do "
    "not say what a call means, it is disputed: a kernel may accept or refuse it, too. A kernel "
    "must refuse what the vendor's code alone forbids. --documents=strict: it must refuse what is "
    "open. --upstream=off: it may accept what the vendor's code alone forbids.";

/// Who states a requirement of an entry point, see `sentence_of`. "Accepts" means that the vendor's
/// own code is known to give a result: one of its tests makes the call, its kernel has a path for
/// it, or it never reads the argument. A check that is missing is no acceptance.
enum class Standing : std::uint8_t { documented, page, derived, open, disputed, upstream, advice };
/// Where a requirement can be exercised. content: lies in the elements, which phase 1 cannot see;
/// none: nothing to test.
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

/// Whether a kernel must refuse what the vendor's code alone forbids.
enum class Upstream : std::uint8_t { on, off };
/// Whether a kernel must refuse what is open. lenient: it may; strict: it must.
enum class Documents : std::uint8_t { lenient, strict };

template <>
inline constexpr auto spellings_of<Upstream> =
    Spellings<Upstream, 2>{{{{Upstream::on, "on"}, {Upstream::off, "off"}}}};
template <>
inline constexpr auto spellings_of<Documents> =
    Spellings<Documents, 2>{{{{Documents::lenient, "lenient"}, {Documents::strict, "strict"}}}};

/// What of the rule of the documents a user can choose.
struct Policy {
  Upstream upstream = Upstream::on;
  Documents documents = Documents::lenient;

  friend bool operator==(const Policy&, const Policy&) = default;
};

/// Whether a kernel must refuse a call that breaks a requirement of this standing; where it need
/// not, either answer is reported and fails nobody.
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

/// What a standing means, and what follows for a kernel.
constexpr std::string_view sentence_of(Standing standing) {
  switch (standing) {
    case Standing::documented:
      return "the page of this entry point says so: a kernel must refuse the call that breaks it";
    case Standing::page:
      return "the public page of this entry point, for which there is no other, says so: a kernel "
             "must refuse the call that breaks it";
    case Standing::derived:
      return "it follows from what the page says: a kernel must refuse the call that breaks it";
    case Standing::open:
      return "the page forbids the call that breaks it, and the vendor's own code accepts it: a "
             "kernel may accept or refuse it, and must refuse it with --documents=strict";
    case Standing::disputed:
      return "the pages contradict each other about the call that breaks it, or do not say what it "
             "means: a kernel may accept or refuse it";
    case Standing::upstream:
      return "the vendor's code alone says so: a kernel must refuse the call that breaks it, and "
             "may accept it with --upstream=off";
    case Standing::advice:
      break;
  }
  return "it is advice, which no call breaks";
}

/// What a refusal must answer: one documented code, or any code but success.
struct ExpectedStatus {
  bool any = true;
  Status code = Status::param_invalid;
};
inline constexpr ExpectedStatus any_refusal = {};
constexpr ExpectedStatus exactly(Status code) { return {.any = false, .code = code}; }

/// One way to break a requirement.
template <class Op>
struct Violation {
  std::string_view name;  ///< unique within the requirement, e.g. the parameter that is broken
  void (*apply)(Call<Op>& call);
};

/// One way to meet a requirement for which no problem asks: a reserved tensor that is passed all
/// the same, say. The numbers that are due stay the same. A call that has no room for it is left as
/// it is.
template <class Op>
struct Variant {
  std::string_view name;  ///< unique within the requirement
  void (*apply)(Call<Op>& call);
};

/// One documented sentence. Ids are those of the specification's tables.
template <class Op>
struct Requirement {
  std::string_view id;
  std::string_view statement;
  Source source;
  Standing standing;  ///< where a page says it, see `standing_on`
  /// Entry points of whose page a documented requirement is a sentence; empty: all.
  std::span<const typename Op::EntryPoint> stated_for = {};
  /// Entry points of whose public page it is one, where there is no other page.
  std::span<const typename Op::EntryPoint> page_for = {};
  std::vector<Side> sides;
  std::string_view notes =
      {};  ///< ids of the contradictions and open points that touch the requirement
  std::vector<std::string_view> implies =
      {};                               ///< requirements that are broken whenever this one is
  ExpectedStatus status = any_refusal;  ///< see `status_on`
  /// Entry points whose page names the status; empty: all that state the requirement.
  std::span<const typename Op::EntryPoint> status_for = {};
  bool (*applies)(const Call<Op>& call);  ///< whether the requirement says anything about this call
  bool (*holds)(const Call<Op>& call);    ///< true where it does not apply
  /// Of a limit: whether a legal call lies at it. Only such a call exercises its accept side.
  /// Null: every call does of which the requirement says anything.
  bool (*reaches)(const Call<Op>& call) = nullptr;
  std::vector<Violation<Op>> violations;
  std::vector<Variant<Op>> variants = {};  ///< of requirements with an accept side
  std::string_view reason =
      {};  ///< of requirements without accept and reject side: why no case exercises them

  /// The standing on an entry point. What is documented for others only is upstream's.
  Standing standing_on(typename Op::EntryPoint entry_point) const {
    if (standing != Standing::documented && standing != Standing::page) return standing;
    if (lists(page_for, entry_point)) return Standing::page;
    return is_of(entry_point) ? standing : Standing::upstream;
  }
  /// Whether a page of the entry point states it, so that a plan owes cases there.
  bool is_stated_on(typename Op::EntryPoint entry_point) const {
    const bool is_of_pages = standing == Standing::documented || standing == Standing::page ||
                             standing == Standing::open;
    return is_of_pages && is_of(entry_point);
  }
  /// Whether a call that breaks the requirement must be refused.
  bool binds(typename Op::EntryPoint entry_point, const Policy& policy) const {
    return must_refuse(standing_on(entry_point), policy);
  }
  /// What a refusal must answer on an entry point: the code only where its page names one.
  ExpectedStatus status_on(typename Op::EntryPoint entry_point) const {
    const bool named = standing_on(entry_point) == Standing::documented &&
                       (status_for.empty() || lists(status_for, entry_point));
    return named ? status : any_refusal;
  }
  /// Whether a legal call exercises the accept side.
  bool is_exercised_by(const Call<Op>& call) const {
    return has(Side::accept) && applies(call) && (reaches == nullptr || reaches(call));
  }
  bool has(Side side) const {
    for (const Side own : sides)
      if (own == side) return true;
    return false;
  }

 private:
  /// Whether it is a sentence of the entry point's page.
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

/// The requirements that `call` breaks, in table order.
template <class Op>
std::vector<const Requirement<Op>*> violations(std::span<const Requirement<Op>> requirements,
                                               const Call<Op>& call) {
  std::vector<const Requirement<Op>*> broken;
  for (const auto& requirement : requirements)
    if (!requirement.holds(call)) broken.push_back(&requirement);
  return broken;
}

}  // namespace assay::spec
