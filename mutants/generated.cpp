#include "generated.hpp"

#include "rounding.hpp"

namespace assay::mutants {
namespace {

constexpr std::int64_t tile = 16;
constexpr int coarse_bits = 3;

/// Returns a hash of the coordinates of a step. A fault that uses the hash does not depend on the
/// order of computation, and differs between problems.
std::uint64_t scattered(const Spot& spot) {
  std::uint64_t hash = 1469598103934665603u;
  for (const std::int64_t part :
       {spot.b, spot.n, spot.i, spot.j, spot.heads, spot.rows, spot.keys}) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 1099511628211u;
    hash ^= hash >> 29;
  }
  return hash;
}

/// Returns the previous index. For index 0, returns 1; if there is only one index, returns 0.
std::int64_t neighbour(std::int64_t at, std::int64_t count) {
  if (at > 0) return at - 1;
  return count > 1 ? 1 : at;
}

}  // namespace

bool happens(Where where, const Spot& spot) {
  switch (where) {
    case Where::last_key:
      return spot.j + 1 == spot.keys;
    case Where::tile_edge:
      return spot.j % tile == tile - 1;
    case Where::last_row:
      return spot.i + 1 == spot.rows;
    case Where::last_head:
      return spot.n + 1 == spot.heads;
    case Where::later_sequences:
      return spot.b > 0;
    case Where::seldom:
      return scattered(spot) % 97 == 0;
    case Where::rarely:
      return scattered(spot) % 2'003 == 0;
  }
  return false;
}

Spot taken_from(Change change, Spot spot) {
  if (change == Change::of_neighbour) spot.j = neighbour(spot.j, spot.keys);
  if (change == Change::of_row_above) spot.i = neighbour(spot.i, spot.rows);
  if (change == Change::of_other_head) spot.n = neighbour(spot.n, spot.heads);
  return spot;
}

float changed(Change change, float number) {
  switch (change) {
    case Change::negated:
      return -number;
    case Change::lost:
      return 0;
    case Change::doubled:
      return 2 * number;
    case Change::coarse:
      return shortened(number, coarse_bits);
    default:
      return number;
  }
}

std::vector<GeneratedFault> generated(std::initializer_list<Step> steps,
                                      std::initializer_list<Change> changes,
                                      std::initializer_list<Where> places) {
  std::vector<GeneratedFault> all;
  for (const Step step : steps)
    for (const Change change : changes)
      for (const Where where : places) all.push_back({step, change, where});
  return all;
}

}  // namespace assay::mutants
