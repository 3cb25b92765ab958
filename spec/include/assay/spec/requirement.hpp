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

/// How far a requirement can be trusted. documented: a page says it of this very entry point;
/// derived: it follows from what a page says; upstream: only the upstream repository says it;
/// disputed: page and upstream, or two pages, differ: either answer is reported and fails nobody;
/// advice has nothing to break.
enum class Standing : std::uint8_t { documented, derived, upstream, disputed, advice };
/// Where a requirement can be exercised. content: lies in the elements, which phase 1 cannot see;
/// none: nothing to test.
enum class Side : std::uint8_t { accept, reject, content, none };

template <>
inline constexpr auto spellings_of<Standing> = Spellings<Standing, 5>{{{
    {Standing::documented, "documented"},
    {Standing::derived, "derived"},
    {Standing::upstream, "upstream"},
    {Standing::disputed, "disputed"},
    {Standing::advice, "advice"},
}}};
template <>
inline constexpr auto spellings_of<Side> = Spellings<Side, 4>{{{
    {Side::accept, "accept"},
    {Side::reject, "reject"},
    {Side::content, "content"},
    {Side::none, "none"},
}}};

/// Whether what upstream alone states binds as well.
enum class Upstream : std::uint8_t { on, off };

template <>
inline constexpr auto spellings_of<Upstream> =
    Spellings<Upstream, 2>{{{{Upstream::on, "on"}, {Upstream::off, "off"}}}};

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
  Standing standing;
  /// Entry points of whose page a documented requirement is a sentence; on others upstream alone
  /// states it.
  /// Empty: all.
  std::span<const typename Op::EntryPoint> stated_for = {};
  std::vector<Side> sides;
  std::string_view notes =
      {};  ///< ids of the contradictions and open points that touch the requirement
  std::vector<std::string_view> implies =
      {};  ///< requirements that are broken whenever this one is
  ExpectedStatus status = any_refusal;
  bool (*applies)(const Call<Op>& call);  ///< whether the requirement says anything about this call
  bool (*holds)(const Call<Op>& call);    ///< true where it does not apply
  std::vector<Violation<Op>> violations;
  std::vector<Variant<Op>> variants = {};  ///< of requirements with an accept side
  std::string_view reason =
      {};  ///< of requirements without accept and reject side: why no case exercises them

  Standing standing_on(typename Op::EntryPoint entry_point) const {
    if (standing != Standing::documented || stated_for.empty()) return standing;
    for (const auto own : stated_for)
      if (own == entry_point) return standing;
    return Standing::upstream;
  }
  /// Whether a call that breaks the requirement has to be refused.
  bool binds(typename Op::EntryPoint entry_point, Upstream upstream) const {
    const Standing own = standing_on(entry_point);
    return own != Standing::disputed && (own != Standing::upstream || upstream == Upstream::on);
  }
  bool has(Side side) const {
    for (const Side own : sides)
      if (own == side) return true;
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
