#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/spec/text_enum.hpp"

namespace assay::conformance {

/// One value index per factor; `undecided` if none is chosen yet.
using Choice = std::vector<std::size_t>;
inline constexpr std::size_t undecided = ~std::size_t{0};

/// The reasons why values exclude each other, least important first. fruitless: no output would be
/// judged. costly: the cost is too high. forbidden: a requirement of the documentation forbids
/// them. senseless: the combination makes no sense.
enum class Why : std::uint8_t { fruitless, costly, forbidden, senseless };

/// A reason and its text: a sentence or, for `forbidden`, the id of the requirement.
struct Reason {
  Why why;
  std::string_view text;
  friend bool operator==(const Reason&, const Reason&) = default;
};

/// Values of a few factors that exclude each other, and why.
struct Exclusion {
  Reason reason;
  std::vector<std::size_t> factors;             ///< the factors concerned, ascending
  std::function<bool(const Choice&)> excludes;  ///< called with all of them decided
};

/// At most 64 factors with at most 63 values each, and the exclusions between them. The constructor
/// evaluates every exclusion for each combination of its factors' values. Errors: std::logic_error
/// for an exclusion of unknown or unordered factors, for more factors or values, and for a factor
/// without values.
class ChoiceSpace {
 public:
  ChoiceSpace(std::vector<std::size_t> sizes, const std::vector<Exclusion>& exclusions);
  /// The space `base` with additional exclusions.
  ChoiceSpace(const ChoiceSpace& base, const std::vector<Exclusion>& more);
  ~ChoiceSpace();
  ChoiceSpace(ChoiceSpace&&) noexcept;
  ChoiceSpace& operator=(ChoiceSpace&&) noexcept;

  /// Returns a copy of the space without the exclusions that have one of the reasons `spared`.
  ChoiceSpace without(const std::function<bool(const Reason&)>& is_spared) const;

  std::span<const std::size_t> sizes() const;
  /// A choice in which all factors are undecided.
  Choice open_choice() const { return Choice(sizes().size(), undecided); }
  /// Returns whether the decided values of `choice` violate no exclusion.
  bool admits(const Choice& choice) const;
  /// Returns whether a complete choice exists that agrees with the decided values of `choice`.
  bool feasible(const Choice& choice) const;
  /// Returns a minimal set of reasons whose exclusions together make `choice` infeasible. If
  /// several such sets exist, prefers important reasons. Empty if `choice` is feasible.

  std::vector<Reason> blamed(const Choice& choice) const;

  /// Sorts all values of a factor by preference, given the decided values.
  using Preference =
      std::function<void(const Choice&, std::size_t factor, std::span<std::size_t> values)>;
  /// Decides the open factors in a random order, each with the most preferred value that is
  /// possible. Returns false if this is impossible. Errors: std::logic_error if the search exceeds
  /// its step limit.
  bool complete(Choice& choice, std::uint64_t lot, const Preference& prefer) const;

 private:
  struct Tables;
  explicit ChoiceSpace(std::unique_ptr<const Tables> tables);
  std::unique_ptr<const Tables> tables_;
};

/// The goal of a cover.
struct CoverGoal {
  std::size_t factors = ~std::size_t{0};           ///< cover pairs of the first `factors` factors
  Choice fixed = {};                               ///< values that every choice has; empty: none
  std::span<const Choice> known = {};              ///< existing choices, complete or not
  std::function<double(const Choice&)> cost = {};  ///< of a complete choice; empty: all equal
};

/// A cover: complete choices that together contain every possible pair of values of two factors.
/// Greedy and deterministic. `seed` selects among equally good values.
std::vector<Choice> pairwise_cover(const ChoiceSpace& space, std::uint64_t seed,
                                   const CoverGoal& goal = {});

/// A complete choice with the decided values of `choice` and random other values. Returns nothing
/// if such a choice does not exist.
std::optional<Choice> random_completion(const ChoiceSpace& space, Choice choice,
                                        std::uint64_t seed);

/// A random complete choice that avoids the exclusions. Errors: std::logic_error if none exists.
Choice random_choice(const ChoiceSpace& space, std::uint64_t seed);

}  // namespace assay::conformance

namespace assay::spec {

template <>
inline constexpr auto spellings_of<conformance::Why> = Spellings<conformance::Why, 4>{{{
    {conformance::Why::fruitless, "fruitless"},
    {conformance::Why::costly, "costly"},
    {conformance::Why::forbidden, "forbidden"},
    {conformance::Why::senseless, "senseless"},
}}};

}  // namespace assay::spec
