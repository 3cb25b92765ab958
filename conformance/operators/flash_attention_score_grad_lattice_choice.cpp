#include <algorithm>
#include <bit>

#include "flash_attention_score_grad_lattice_carrier.hpp"

namespace assay::conformance::lattice {
namespace {

constexpr std::size_t most_keys = 8;

bool is_exact(std::size_t keys) { return keys <= most_keys && std::has_single_bit(keys); }

}  // namespace

/// One query row and the ends of its kept keys.
struct Chooser::Row {
  std::int64_t b, n, i, first, last;
};

Chooser::Chooser(const Plan& plan, const Carrier& carrier, const reference::Mask& mask)
    : plan_(&plan),
      carrier_(&carrier),
      mask_(&mask),
      usage_(static_cast<std::size_t>(plan.problem.seq_kv)) {}

Choice Chooser::choose(std::int64_t b, std::int64_t n, std::int64_t i, Draws draws) {
  Row row{.b = b, .n = n, .i = i, .first = 0, .last = mask_->kept_range(b, i).last - 1};
  while (row.last >= 0 && !mask_->keeps(b, n, i, row.last)) --row.last;
  if (row.last < 0) return {};
  while (!mask_->keeps(b, n, i, row.first)) ++row.first;
  Choice choice =
      plan_->problem.head_dim == 1 ? choose_by_level(row, draws) : choose_by_code(row, draws);
  if (carrier_->has_offset())
    choice.maximum = plan_->scale.factor *
                     (plan_->scale.factor == 1 ? draws.integer(-8, 8) : draws.integer(-2, 2));
  if (choice.exact)
    for (const std::int32_t j : choice.keys) ++usage_[static_cast<std::size_t>(j)];
  return choice;
}

/// Attends to the kept keys whose words agree in `care` with `code`. False if their number is not
/// 1, 2, 4 or 8.
bool Chooser::take(const Row& row, std::uint32_t code, std::uint32_t care, Choice& choice) const {
  const std::uint32_t free = carrier_->code_mask() & ~care;
  choice = {.code = code, .care = care};
  std::uint32_t part = 0;
  do {
    for (const std::int32_t j : carrier_->cell((code & care) | part)) {
      if (j > row.last) break;
      if (!mask_->keeps(row.b, row.n, row.i, j)) continue;
      if (choice.keys.size() == most_keys) return false;
      choice.keys.push_back(j);
    }
    part = (part - free) & free;
  } while (part != 0);
  std::sort(choice.keys.begin(), choice.keys.end());
  choice.exact = is_exact(choice.keys.size());
  return choice.exact;
}

/// Kept keys worth attending to, the least used first.
std::vector<std::int32_t> Chooser::wanted_keys(const Row& row, Draws& draws) const {
  std::vector<std::int32_t> wanted = {static_cast<std::int32_t>(row.last)};
  for (int probe = 0; probe < 4; ++probe) {
    const std::int64_t j = draws.integer(row.first, row.last);
    if (mask_->keeps(row.b, row.n, row.i, j)) wanted.push_back(static_cast<std::int32_t>(j));
  }
  wanted.push_back(static_cast<std::int32_t>(row.first));
  const auto usage = [&](std::int32_t j) { return usage_[static_cast<std::size_t>(j)]; };
  std::stable_sort(wanted.begin(), wanted.end(),
                   [&](std::int32_t one, std::int32_t other) { return usage(one) < usage(other); });
  return wanted;
}

/// The bit in which the words of two keys differ, if it is one: a mask that is off by one then
/// moves a key into the cell.
std::uint32_t Chooser::edge_bit(std::int64_t kept, std::int64_t excluded) const {
  const std::uint32_t difference = carrier_->code(kept) ^ carrier_->code(excluded);
  return std::has_single_bit(difference) ? difference : 0;
}

Choice Chooser::choose_by_code(const Row& row, Draws& draws) const {
  constexpr std::int64_t free_bits[] = {0, 1, 1, 1, 2, 2, 3, 3};
  const std::int64_t bits = std::popcount(carrier_->code_mask());
  Choice choice;
  for (const std::int32_t wanted : wanted_keys(row, draws)) {
    std::uint32_t free = 0;
    for (std::int64_t k = free_bits[draws.integer(0, 7)]; k > 0 && bits > 0; --k)
      free |= std::uint32_t{1} << draws.integer(0, bits - 1);
    const std::int64_t beyond = wanted == row.last    ? wanted + 1
                                : wanted == row.first ? wanted - 1
                                                      : -1;
    if (beyond >= 0 && beyond < plan_->problem.seq_kv) free |= edge_bit(wanted, beyond);
    for (; free != 0; free &= free - 1)
      if (take(row, carrier_->code(wanted), carrier_->code_mask() & ~free, choice)) return choice;
    if (take(row, carrier_->code(wanted), carrier_->code_mask(), choice)) return choice;
  }
  if (take_any_cell(row, choice)) return choice;
  // No cell fits: the row is consistent with whatever the word of its last key singles out.
  choice = {.code = carrier_->code(row.last), .care = carrier_->code_mask()};
  for (const std::int32_t j : carrier_->cell(choice.code))
    if (mask_->keeps(row.b, row.n, row.i, j)) choice.keys.push_back(j);
  return choice;
}

bool Chooser::take_any_cell(const Row& row, Choice& choice) const {
  constexpr std::uint32_t most_cells = 64;
  for (std::uint32_t code = 0; code <= carrier_->code_mask() && code < most_cells; ++code)
    if (take(row, code, carrier_->code_mask(), choice)) return true;
  return false;
}

Choice Chooser::choose_by_level(const Row& row, Draws& draws) const {
  std::vector<std::int32_t> kept;
  for (std::int64_t j = row.first; j <= row.last; ++j)
    if (mask_->keeps(row.b, row.n, row.i, j)) kept.push_back(static_cast<std::int32_t>(j));
  const std::int64_t sign = draws.sign(), earlier = draws.one_in(2) ? sign : 0;
  Choice choice;
  for (const std::int64_t direction : {earlier, sign - earlier, -sign}) {
    std::int64_t best = direction * carrier_->level(kept[0]);
    for (const std::int32_t j : kept) best = std::max(best, direction * carrier_->level(j));
    choice = {.maximum = 128 * plan_->scale.factor * best, .direction = direction};
    for (const std::int32_t j : kept)
      if (direction * carrier_->level(j) == best) choice.keys.push_back(j);
    choice.exact = is_exact(choice.keys.size()) && (best == 0 || plan_->offsets);
    if (choice.exact) return choice;
  }
  return choice;
}

}  // namespace assay::conformance::lattice
