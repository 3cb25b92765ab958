#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/mutants/mutant.hpp"
#include "assay/spec/text_enum.hpp"

/// Generated faults. Each fault changes the value of one step of a kernel at some places, e.g. only
/// for the last key.
namespace assay::mutants {

/// How a generated fault changes the value of a step. of_*: uses the value of another row, key or
/// head. stale: uses the value from the previous evaluation of the step. coarse: rounds to three
/// significant bits.
enum class Change : std::uint8_t {
  negated,
  lost,
  doubled,
  coarse,
  stale,
  of_neighbour,
  of_row_above,
  of_other_head
};

/// The step of a kernel that a generated fault changes. Each kernel has some of these steps. In
/// kernels of NsaCompress, weight is the factor of a token, term is the product of weight and
/// token, and channel_sum is the term that a window adds to a weight gradient. The steps from
/// collecting_key on compute a row index: the row of dk and dv to which a pair's contribution is
/// added, the row of key, query or dy that is added to a gradient, or the row of value that is
/// added to the output.
enum class Step : std::uint8_t {
  product,
  score,
  probability,
  dropped,
  dprobability,
  dscore,
  softmax_max,
  softmax_sum,
  row_term,
  weight,
  term,
  channel_sum,
  collecting_key,
  key_of_dq,
  query_of_dk,
  dy_of_dv,
  value_of_output
};

/// The places at which a generated fault changes a value, for example only the last key.
enum class Where : std::uint8_t {
  last_key,
  tile_edge,
  last_row,
  last_head,
  later_sequences,
  seldom,
  rarely
};

}  // namespace assay::mutants

namespace assay::spec {

template <>
inline constexpr auto spellings_of<mutants::Change> = Spellings<mutants::Change, 8>{{{
    {mutants::Change::negated, "negated"},
    {mutants::Change::lost, "lost"},
    {mutants::Change::doubled, "doubled"},
    {mutants::Change::coarse, "coarse"},
    {mutants::Change::stale, "stale"},
    {mutants::Change::of_neighbour, "of_neighbour"},
    {mutants::Change::of_row_above, "of_row_above"},
    {mutants::Change::of_other_head, "of_other_head"},
}}};

template <>
inline constexpr auto spellings_of<mutants::Step> = Spellings<mutants::Step, 17>{{{
    {mutants::Step::product, "product"},
    {mutants::Step::score, "score"},
    {mutants::Step::probability, "probability"},
    {mutants::Step::dropped, "dropped"},
    {mutants::Step::dprobability, "dprobability"},
    {mutants::Step::dscore, "dscore"},
    {mutants::Step::softmax_max, "softmax_max"},
    {mutants::Step::softmax_sum, "softmax_sum"},
    {mutants::Step::row_term, "row_term"},
    {mutants::Step::weight, "weight"},
    {mutants::Step::term, "term"},
    {mutants::Step::channel_sum, "channel_sum"},
    {mutants::Step::collecting_key, "collecting_key"},
    {mutants::Step::key_of_dq, "key_of_dq"},
    {mutants::Step::query_of_dk, "query_of_dk"},
    {mutants::Step::dy_of_dv, "dy_of_dv"},
    {mutants::Step::value_of_output, "value_of_output"},
}}};

template <>
inline constexpr auto spellings_of<mutants::Where> = Spellings<mutants::Where, 7>{{{
    {mutants::Where::last_key, "at_last_key"},
    {mutants::Where::tile_edge, "at_edges_of_tiles"},
    {mutants::Where::last_row, "in_last_row"},
    {mutants::Where::last_head, "in_last_head"},
    {mutants::Where::later_sequences, "after_first_sequence"},
    {mutants::Where::seldom, "seldom"},
    {mutants::Where::rarely, "rarely"},
}}};

}  // namespace assay::spec

namespace assay::mutants {

/// The coordinates of a step: sequence b, head n, row i and key j. Also contains the number of
/// heads, rows and keys.
struct Spot {
  std::int64_t b, n, i, j;
  std::int64_t heads, rows, keys;
};

/// Returns whether the fault happens at `spot` (coordinates of a step). A tile has 16 keys. seldom:
/// at one of 97 pairs; rarely: at one of 2,003 pairs; both at pseudo-random coordinates.
bool happens(Where where, const Spot& spot);
/// Returns the coordinates whose value the faulty kernel uses at `spot`, for example those of the
/// previous row. Returns `spot` if no such coordinates exist.
Spot taken_from(Change change, Spot spot);
/// Returns the changed value of the step.
float changed(Change change, float number);

/// A generated fault in one step of a kernel.
struct GeneratedFault {
  Step step;
  Change change;
  Where where;

  /// For example "dscore_negated_at_last_key".
  std::string name() const {
    return std::string(spec::to_string(step)) + "_" + std::string(spec::to_string(change)) + "_" +
           std::string(spec::to_string(where));
  }
  std::string sentence() const {
    return std::string(spec::to_string(step)) + " is " + std::string(spec::to_string(change)) +
           ", " + std::string(spec::to_string(where));
  }
};

/// Returns one fault for each combination of a step, a change and a place from the given lists.
std::vector<GeneratedFault> generated(std::initializer_list<Step> steps,
                                      std::initializer_list<Change> changes,
                                      std::initializer_list<Where> places);

inline void append(std::vector<GeneratedFault>& bugs, const std::vector<GeneratedFault>& more) {
  bugs.insert(bugs.end(), more.begin(), more.end());
}

/// Returns one mutant of class Generated for each fault, with a name that starts with "generated_".
/// Consecutive faults use the plans (choices of a kernel) in rotation, because some plans skip
/// steps that others compute.
template <class Op, class Generated, class Plan>
std::vector<MutantOf<Op>> injected_by_turns(const std::vector<GeneratedFault>& bugs,
                                            std::initializer_list<Plan> plans) {
  std::vector<MutantOf<Op>> all;
  for (const GeneratedFault& bug : bugs) {
    const Plan& plan = *(plans.begin() + all.size() % plans.size());
    const std::string name = "generated_" + bug.name();
    all.push_back({.name = name,
                   .bug = bug.sentence(),
                   .healthy = false,
                   .subject = Subject::numbers,
                   .make = [=] { return std::make_unique<Generated>(name, plan, bug); }});
  }
  return all;
}

inline constexpr auto every_change = {
    Change::negated, Change::lost,         Change::doubled,      Change::coarse,
    Change::stale,   Change::of_neighbour, Change::of_row_above, Change::of_other_head};
/// The changes that are used for values of a row. of_neighbour is not in the list: the neighbour of
/// a row is the previous row, and another change already uses the previous row.
inline constexpr auto changes_of_rows = {Change::negated,      Change::lost,
                                         Change::doubled,      Change::stale,
                                         Change::of_row_above, Change::of_other_head};
inline constexpr auto places_of_pairs = {Where::last_key,  Where::tile_edge,       Where::last_row,
                                         Where::last_head, Where::later_sequences, Where::seldom};
inline constexpr auto places_of_rows = {Where::last_row, Where::last_head, Where::later_sequences,
                                        Where::seldom};

/// Applies a generated fault in a kernel. Not thread-safe.
class Growth {
 public:
  explicit Growth(const GeneratedFault& bug) : bug_(bug) {}

  /// Returns the value of the step at `spot`, with the fault if the fault happens there.
  /// `sound(spot)` computes the correct value.
  template <class Sound>
  float operator()(Step step, const Spot& spot, Sound&& sound) const {
    if (step != bug_.step) return sound(spot);
    if (bug_.change == Change::stale) {
      const float before = std::exchange(last_, sound(spot));
      return happens(bug_.where, spot) ? before : last_;
    }
    if (!happens(bug_.where, spot)) return sound(spot);
    return changed(bug_.change, sound(taken_from(bug_.change, spot)));
  }
  /// Returns the coordinates from which the step takes its value: other coordinates if the fault
  /// happens at `spot`, else `spot`.
  Spot place(Step step, const Spot& spot) const {
    const bool moves = step == bug_.step && happens(bug_.where, spot);
    return moves ? taken_from(bug_.change, spot) : spot;
  }

 private:
  GeneratedFault bug_;
  mutable float last_ = 0;
};

}  // namespace assay::mutants
