#include "plan/forbidden.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace assay::conformance {
namespace {

/// Ids of requirements, in the order of their table.
using Ids = std::vector<std::string_view>;

/// `representatives` is the number of sample calls. If few of them have a combination, `enough`
/// further calls with it must break the same requirement.
constexpr std::uint64_t representatives = 600, enough = 48;

/// The numbered combinations of the values of a few factors.
struct Grid {
  std::vector<std::size_t> factors, sizes;

  std::size_t combinations() const {
    std::size_t count = 1;
    for (const std::size_t size : sizes) count *= size;
    return count;
  }
  /// Sets the factors to the values of the combination with this number.
  void decide(Choice& choice, std::size_t at) const {
    for (std::size_t k = 0; k < factors.size(); ++k) {
      choice[factors[k]] = at % sizes[k];
      at /= sizes[k];
    }
  }
  std::size_t combination_of(const Choice& choice) const {
    std::size_t at = 0;
    for (std::size_t k = factors.size(); k-- > 0;) at = at * sizes[k] + choice[factors[k]];
    return at;
  }
};

/// For each combination of values, the requirements that all sample calls with this combination
/// break.
struct Survey {
  Grid grid;
  std::vector<std::optional<Ids>> broken;  ///< nothing: no representative yet

  Survey(std::vector<std::size_t> factors, std::span<const std::size_t> of) : grid{factors, {}} {
    for (const std::size_t factor : factors) grid.sizes.push_back(of[factor]);
    broken.resize(grid.combinations());
  }

  /// Records the requirements `ids` that a sample call with the combination breaks.
  void take(std::size_t at, const Ids& ids) {
    if (!broken[at]) {
      broken[at] = ids;
      return;
    }
    std::erase_if(*broken[at],
                  [&](std::string_view id) { return std::ranges::find(ids, id) == ids.end(); });
  }
  /// Returns whether no single requirement is broken by all sample calls with the combination.
  bool is_free(std::size_t at) const { return broken[at] && broken[at]->empty(); }
};

/// Draws calls with the combination until one of them shows that it is allowed, or enough calls
/// were drawn. Returns whether all calls break the same requirement.
bool is_broken(Survey& survey, std::size_t at, const ChoiceSpace& space, const Asking& ask) {
  Choice open = space.open_choice();
  survey.grid.decide(open, at);
  for (std::uint64_t lot = 1; lot <= enough && !survey.is_free(at); ++lot) {
    const auto choice = random_completion(space, open, representatives + lot);
    if (!choice) return false;
    const auto& among = survey.broken[at];  // other requirements no longer matter here
    survey.take(at, ask(*choice, representatives + lot, among ? *among : Ids()));
  }
  return !survey.is_free(at);
}

/// Excludes the combinations whose sample calls in `space` all break the same requirement. Gives
/// one exclusion for each requirement.
std::vector<Exclusion> found_by(Survey& survey, const ChoiceSpace& space, const Asking& ask) {
  std::map<std::string_view, std::vector<bool>> found;
  for (std::size_t at = 0; at < survey.broken.size(); ++at) {
    if (survey.is_free(at) || !is_broken(survey, at, space, ask)) continue;
    auto& table = found[survey.broken[at]->front()];
    table.resize(survey.broken.size());
    table[at] = true;
  }
  std::vector<Exclusion> exclusions;
  for (auto& [id, table] : found)
    exclusions.push_back({{Why::forbidden, id},
                          survey.grid.factors,
                          [grid = survey.grid, table = std::move(table)](const Choice& choice) {
                            return table[grid.combination_of(choice)];
                          }});
  return exclusions;
}

/// Adds the exclusions that requirements cause within each of these sets of factors, in the order
/// of the sets. Sample calls for later sets avoid the exclusions that were found earlier.
ChoiceSpace with_found(ChoiceSpace space, const std::vector<std::vector<std::size_t>>& together,
                       const Asking& ask) {
  std::vector<Survey> surveys;
  for (const auto& factors : together) surveys.emplace_back(factors, space.sizes());
  for (std::uint64_t lot = 1; lot <= representatives; ++lot) {
    const Choice choice = random_choice(space, lot);
    const Ids ids = ask(choice, lot, {});
    for (Survey& survey : surveys) survey.take(survey.grid.combination_of(choice), ids);
  }
  for (Survey& survey : surveys) {
    const auto found = found_by(survey, space, ask);
    if (!found.empty()) space = ChoiceSpace(space, found);
  }
  return space;
}

}  // namespace

ChoiceSpace with_forbidden(ChoiceSpace space, const std::vector<std::vector<std::size_t>>& together,
                           const Asking& ask) {
  std::vector<std::vector<std::size_t>> singles, pairs;
  for (std::size_t f = 0; f < space.sizes().size(); ++f) {
    singles.push_back({f});
    for (std::size_t g = f + 1; g < space.sizes().size(); ++g) pairs.push_back({f, g});
  }
  // Tests all pairs twice, because in the first round a call that breaks one requirement can hide
  // another requirement.
  for (const auto& factors : {singles, pairs, pairs, together})
    space = with_found(std::move(space), factors, ask);
  return space;
}

}  // namespace assay::conformance
