#include <algorithm>
#include <bit>
#include <cmath>

#include "attention/exact/score_code.hpp"

namespace assay::conformance::exact {
namespace {

constexpr std::size_t most_keys = 8;
/// The scores of attended keys must exceed all other scores of the row by at least this number.
constexpr std::int64_t apart = 128;

bool is_exact(std::size_t keys) { return keys <= most_keys && std::has_single_bit(keys); }

/// Returns a random maximum score for a row. The maximum is a multiple of the number that the query
/// has in one code channel, so that the numbers of the query need no more digits. If the kernel
/// declares the fused exponential or the LSE form, the maximum is a power of two, because these
/// forms round other values. Otherwise the maximum may be 3 times a power of two: this detects a
/// fused exponential that is not declared.
std::int64_t draw_offset(const ExactPlan& plan, Draws& draws) {
  constexpr std::int64_t of_one_bit = 64;
  const bool rounds = plan.numerics.fused || plan.numerics.lse_form;
  const std::int64_t most = plan.scale.factor == 1 ? 2 : 1, size = draws.integer(-most, most);
  const std::int64_t multiple = std::abs(size) == 2 && !rounds ? 3 : std::abs(size);
  return (size < 0 ? -of_one_bit : of_one_bit) * multiple;
}

}  // namespace

/// One query row, with its first and last unmasked key.
struct Chooser::Row {
  std::int64_t n, i, first, last;
  std::int64_t slope;    ///< of the head; 0: no slopes, or none in this head
  bool lowered = false;  ///< the bias lowers all unmasked keys
  /// If products of query and key cancel the slope on one side of the query, the row uses only the
  /// keys of that side. 1: keys before the query; -1: keys after it; 0: the slope is not cancelled.
  std::int64_t side = 0;
};

Chooser::Chooser(const ExactPlan& plan, const KeyHead& head, const ScoreCode& score_code,
                 const Sides& sides)
    : plan_(&plan),
      head_(head),
      score_code_(&score_code),
      sides_(sides),
      usage_(static_cast<std::size_t>(head.keys)) {}

bool Chooser::keeps(const Row& row, std::int64_t j) const {
  return sides_.key_pattern.times(head_.b, row.n, row.i, j) != 0;
}

/// Lists the key as often as the row attends to it.
void Chooser::attend(const Row& row, std::int32_t j, Choice& choice) const {
  const std::int64_t times = sides_.key_pattern.times(head_.b, row.n, row.i, j);
  choice.keys.insert(choice.keys.end(), static_cast<std::size_t>(times), j);
}

/// Returns whether the row may attend to the key: the key is unmasked, and no unmasked key has a
/// higher bias.
bool Chooser::offers(const Row& row, std::int64_t j) const {
  return keeps(row, j) && (row.lowered || !sides_.bias.lowers(head_.b, row.n, row.i, j));
}

Choice Chooser::choose(std::int64_t n, std::int64_t i, Draws draws) {
  const reference::KeyRange range = sides_.key_pattern.range({head_.b, n, i});
  Row row{.n = n,
          .i = i,
          .first = range.first,
          .last = range.last - 1,
          .slope = sides_.bias.steepness(head_.b, n)};
  while (row.last >= row.first && !keeps(row, row.last)) --row.last;
  if (row.last < row.first) return {};
  while (!keeps(row, row.first)) ++row.first;
  if (plan_->bias == BiasForm::cancelled) row.side = 1;
  if (plan_->bias == BiasForm::halved && row.slope > 0) halve(row, draws);
  Choice choice;
  if (row.slope != 0 && row.side == 0)
    choice = choose_by_distance(row, draws);
  else
    choice = plan_->width() == 1 ? choose_by_level(row, draws) : choose_by_code(row, draws);
  raise(row, choice, draws);
  if (choice.exact)
    for (const std::int32_t j : choice.keys) ++usage_[static_cast<std::size_t>(j)];
  return choice;
}

/// Restricts the row to the unmasked keys before its position, or to those after it.
void Chooser::halve(Row& row, Draws& draws) const {
  const std::int64_t centre = centre_of(plan_->problem, head_.b, row.i);
  std::int64_t last = std::min(row.last, centre), first = std::max(row.first, centre);
  while (last >= row.first && !keeps(row, last)) --last;
  while (first <= row.last && !keeps(row, first)) ++first;
  const bool some_before = last >= row.first, some_after = first <= row.last;
  row.side = some_before && (!some_after || draws.one_in(2)) ? 1 : -1;
  if (row.side > 0)
    row.last = last;
  else
    row.first = first;
}

/// Raises the scores of a row to compensate for its bias. If the test case allows it, also gives
/// the row a maximum other than 0.
void Chooser::raise(const Row& row, Choice& choice, Draws& draws) const {
  const std::int64_t factor = plan_->scale.factor;
  if (plan_->raises > 0) choice.raised += sides_.bias.share(head_.b, row.n, row.i);
  if (row.lowered && score_code_->can_raise(choice.raised + apart))
    choice.raised += apart;
  else if (row.lowered)
    choice.maximum -= static_cast<double>(apart * factor), choice.exact = false;
  choice.steepness = row.side * row.slope;
  choice.raised += choice.steepness * centre_of(plan_->problem, head_.b, row.i);
  if (!choice.exact || !plan_->offsets || plan_->width() == 1) return;
  choice.offset = draw_offset(*plan_, draws);
  choice.maximum += static_cast<double>(factor * choice.offset);
}

/// Each key has a code of several bits. Makes the row attend to all available keys with this code;
/// only bits that are set in `care` must match. Returns false if the number of these keys is not 1,
/// 2, 4 or 8.
bool Chooser::take(const Row& row, std::uint32_t code, std::uint32_t care, Choice& choice) const {
  const std::uint32_t free = score_code_->code_mask() & ~care;
  choice = {.code = code, .care = care};
  std::uint32_t part = 0;
  do {
    const std::span<const std::int32_t> cell = score_code_->cell((code & care) | part);
    for (auto j = std::ranges::lower_bound(cell, row.first); j != cell.end(); ++j) {
      if (*j > row.last) break;
      if (!offers(row, *j)) continue;
      attend(row, *j, choice);
      if (choice.keys.size() > most_keys) return false;
    }
    part = (part - free) & free;
  } while (part != 0);
  std::sort(choice.keys.begin(), choice.keys.end());
  choice.exact = is_exact(choice.keys.size());
  return choice.exact;
}

/// Returns candidate keys for the row: the first and last available key, and a few random ones.
/// Keys that few rows have used come first.
std::vector<std::int32_t> Chooser::wanted_keys(Row& row, Draws& draws) const {
  std::vector<std::int32_t> wanted;
  const auto want = [&](std::int64_t j) {
    if (offers(row, j)) wanted.push_back(static_cast<std::int32_t>(j));
  };
  want(row.last);
  const bool lists = sides_.key_pattern.keys_alike() > 1 || plan_->value != ValueForm::own;
  if (!lists) {
    for (int probe = 0; probe < 4; ++probe) want(draws.integer(row.first, row.last));
  } else {  // a list has few of the keys between the first and the last
    const std::vector<std::int64_t> listed = sides_.key_pattern.keys({head_.b, row.n, row.i});
    for (int probe = 0; probe < 4; ++probe)
      want(listed[static_cast<std::size_t>(draws.integer(0, std::ssize(listed) - 1))]);
  }
  want(row.first);
  for (std::int64_t j = row.first; wanted.empty() && j <= row.last; ++j) want(j);
  if (wanted.empty()) {
    row.lowered = true;
    want(row.last);
    want(row.first);
  }
  const auto usage = [&](std::int32_t j) { return usage_[static_cast<std::size_t>(j)]; };
  std::stable_sort(wanted.begin(), wanted.end(),
                   [&](std::int32_t one, std::int32_t other) { return usage(one) < usage(other); });
  return wanted;
}

/// Returns the bit in which the codes (bit patterns) of two keys differ, or 0 if several bits
/// differ. A row that accepts both values of this bit attends to a wrong key if the mask is off by
/// one.
std::uint32_t Chooser::edge_bit(std::int64_t kept, std::int64_t excluded) const {
  const std::uint32_t difference = score_code_->code(kept) ^ score_code_->code(excluded);
  return std::has_single_bit(difference) ? difference : 0;
}

Choice Chooser::choose_by_code(Row& row, Draws& draws) const {
  constexpr std::int64_t free_bits[] = {0, 1, 1, 1, 2, 2, 3, 3};
  const std::int64_t bits = std::popcount(score_code_->code_mask());
  const std::vector<std::int32_t> all_wanted = wanted_keys(row, draws);
  Choice choice;
  for (const std::int32_t wanted : all_wanted) {
    std::uint32_t free = 0;
    for (std::int64_t k = free_bits[draws.integer(0, 7)]; k > 0 && bits > 0; --k)
      free |= std::uint32_t{1} << draws.integer(0, bits - 1);
    const std::int64_t beyond = wanted == row.last    ? wanted + 1
                                : wanted == row.first ? wanted - 1
                                                      : -1;
    if (beyond >= 0 && beyond < head_.keys) free |= edge_bit(wanted, beyond);
    for (; free != 0; free &= free - 1)
      if (take(row, score_code_->code(wanted), score_code_->code_mask() & ~free, choice))
        return choice;
    if (take(row, score_code_->code(wanted), score_code_->code_mask(), choice)) return choice;
  }
  if (take_any_cell(row, choice)) return choice;
  // Fallback if there is no set of 1, 2, 4 or 8 keys: the row attends to all keys with the code of
  // one candidate key, and its softmax statistics are those of these keys.
  choice = {.code = score_code_->code(all_wanted.front()), .care = score_code_->code_mask()};
  for (const std::int32_t j : score_code_->cell(choice.code))
    if (j >= row.first && j <= row.last && offers(row, j)) attend(row, j, choice);
  return choice;
}

bool Chooser::take_any_cell(const Row& row, Choice& choice) const {
  constexpr std::uint32_t most_cells = 64;
  for (std::uint32_t code = 0; code <= score_code_->code_mask() && code < most_cells; ++code)
    if (take(row, code, score_code_->code_mask(), choice)) return true;
  return false;
}

Choice Chooser::choose_by_level(const Row& row, Draws& draws) const {
  std::vector<std::int32_t> kept;
  for (std::int64_t j = row.first; j <= row.last; ++j)
    if (keeps(row, j)) kept.push_back(static_cast<std::int32_t>(j));
  const std::int64_t sign = draws.sign(), earlier = draws.one_in(2) ? sign : 0;
  Choice choice;
  for (const std::int64_t direction : {earlier, sign - earlier, -sign}) {
    const auto level = [&](std::int32_t j) {
      return direction * score_code_->level(j) -
             (sides_.bias.lowers(head_.b, row.n, row.i, j) ? 1 : 0);
    };
    std::int64_t best = level(kept[0]);
    for (const std::int32_t j : kept) best = std::max(best, level(j));
    choice = {.maximum = static_cast<double>(apart * plan_->scale.factor * best),
              .direction = direction};
    for (const std::int32_t j : kept)
      if (level(j) == best) attend(row, j, choice);
    choice.exact = is_exact(choice.keys.size()) && (best == 0 || plan_->offsets);
    if (choice.exact) return choice;
  }
  return choice;
}

/// Makes the row attend to the key at its own position and to one neighbour. The distances 0 and 1
/// have different square roots, so this requires a parity channel, which adds a number to the
/// scores of odd keys.
std::optional<Choice> Chooser::choose_neighbours(const Row& row, Draws& draws) const {
  const std::int64_t centre = centre_of(plan_->problem, head_.b, row.i);
  const std::int64_t slope = row.slope, side = draws.sign();
  const auto kept_at = [&](std::int64_t j) {
    return j >= row.first && j <= row.last && keeps(row, j);
  };
  // A key has 0 or 1 in the parity channel, but 8 in a raise channel (which adds the same amount to
  // all scores). The number of the query must therefore be 8 times as large.
  if (plan_->parities == 0 || slope < 0 || !kept_at(centre) || !score_code_->can_raise(8 * slope))
    return std::nullopt;
  for (const std::int64_t neighbour : {centre + side, centre - side}) {
    const std::int64_t other = 2 * centre - neighbour;
    if (!kept_at(neighbour)) continue;
    const std::uint32_t code = score_code_->code(centre),
                        free = code ^ score_code_->code(neighbour);
    const std::uint32_t care = score_code_->code_mask() & ~free;
    if (kept_at(other) && ((score_code_->code(other) ^ code) & care) == 0) continue;
    const auto [first, second] = std::minmax(centre, neighbour);
    Choice choice{.raised = centre % 2 * slope,
                  .parity = centre % 2 == 0 ? slope : -slope,
                  .code = code,
                  .care = care,
                  .exact = true};
    choice.keys = {static_cast<std::int32_t>(first), static_cast<std::int32_t>(second)};
    return choice;
  }
  return std::nullopt;
}

/// Makes the row attend to the unmasked key that is nearest in position. If two keys are equally
/// near, the row attends to both or to one. If the slope is negative, the farthest key is used
/// instead of the nearest.
Choice Chooser::choose_by_distance(const Row& row, Draws& draws) const {
  if (const auto choice = choose_neighbours(row, draws)) return *choice;
  const std::int64_t centre = centre_of(plan_->problem, head_.b, row.i);
  const auto kept_at = [&](std::int64_t j) {
    return j >= row.first && j <= row.last && keeps(row, j);
  };
  std::int64_t distance = std::abs(std::clamp(centre, row.first, row.last) - centre);
  if (row.slope < 0) distance = std::max(std::abs(row.first - centre), std::abs(row.last - centre));
  while (!kept_at(centre - distance) && !kept_at(centre + distance)) ++distance;
  Choice choice;
  if (kept_at(centre - distance))
    choice.keys.push_back(static_cast<std::int32_t>(centre - distance));
  if (distance > 0 && kept_at(centre + distance))
    choice.keys.push_back(static_cast<std::int32_t>(centre + distance));
  const std::optional<std::int64_t> depth = sides_.bias.depth(head_.b, row.n, distance);
  choice.exact = depth && score_code_->can_raise(*depth);
  if (!choice.exact) {
    const auto far = static_cast<double>(distance);
    const double loss = plan_->problem.pse_type == 3 ? std::sqrt(far) : far;
    const double score = -static_cast<double>(plan_->scale.factor * row.slope) * loss;
    choice.maximum = static_cast<float>(score);
    choice.above_maximum = score - choice.maximum;
    return choice;
  }
  choice.raised = *depth;
  if (plan_->width() == 1) return choice;
  std::uint32_t differing =
      score_code_->code(choice.keys.front()) ^ score_code_->code(choice.keys.back());
  if (differing != 0 && draws.one_in(2)) {
    choice.keys = {choice.keys[static_cast<std::size_t>(draws.integer(0, 1))]};
    differing = 0;
  }
  choice.code = score_code_->code(choice.keys.front());
  choice.care = score_code_->code_mask() & ~differing;
  return choice;
}

}  // namespace assay::conformance::exact
