#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace assay::conformance {

/// One value index per factor; `undecided` where none is chosen yet.
using Choice = std::vector<std::size_t>;
inline constexpr std::size_t undecided = ~std::size_t{0};

/// Values of a few factors that do not go together, and why.
struct Exclusion {
  std::string_view id;               ///< the row that says so; empty: the choice would mean nothing
  std::vector<std::size_t> factors;  ///< ascending: those of which it speaks
  std::function<bool(const Choice&)> excludes;  ///< asked when all of them are decided
};

/// Factors with a number of values each, at most 64, and what excludes what. Made once: every
/// exclusion is asked for each combination of its factors' values. Errors: std::logic_error for an
/// exclusion of unknown or unordered factors.
class ChoiceSpace {
 public:
  ChoiceSpace(std::vector<std::size_t> sizes, const std::vector<Exclusion>& exclusions);
  ~ChoiceSpace();
  ChoiceSpace(ChoiceSpace&&) noexcept;

  std::span<const std::size_t> sizes() const;
  /// A choice with everything open.
  Choice open_choice() const { return Choice(sizes().size(), undecided); }
  /// Whether what `choice` has decided violates no exclusion by itself.
  bool admits(const Choice& choice) const;
  /// Whether some complete choice agrees with what `choice` has decided.
  bool feasible(const Choice& choice) const;
  /// Ids whose exclusions together make `choice` infeasible and of which none can be spared; empty
  /// where it is feasible.
  std::vector<std::string_view> blamed(const Choice& choice) const;

  /// Order of preference of the values of a factor, given what is decided; all of them.
  using Preference =
      std::function<void(const Choice&, std::size_t factor, std::vector<std::size_t>&)>;
  /// Decides the open factors in an order by lot, values as preferred; false if that cannot be
  /// done.
  /// Errors: std::logic_error if the search does not come to an end.
  bool complete(Choice& choice, std::uint64_t lot, const Preference& prefer) const;

 private:
  struct Tables;
  std::unique_ptr<const Tables> tables_;
};

/// What a pairwise cover is to hold.
struct CoverGoal {
  std::size_t factors = ~std::size_t{0};  ///< pairs of the first so many factors; by default of all
  Choice fixed = {};                      ///< what every choice holds; empty: nothing
  std::span<const Choice> known = {};     ///< choices, complete or not, that are made already
};

/// Complete choices in which every pair of values of two factors occurs that some complete choice
/// holds. Greedy and deterministic; `seed` decides between equally good values.
std::vector<Choice> pairwise_cover(const ChoiceSpace& space, std::uint64_t seed,
                                   const CoverGoal& goal = {});

/// A complete choice, uniform but for what is excluded. Errors: std::logic_error if there is none.
Choice random_choice(const ChoiceSpace& space, std::uint64_t seed);

}  // namespace assay::conformance
