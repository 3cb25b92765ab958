#include "validation/rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "assay/optimized/schedules/planner.hpp"
#include "recorder.hpp"

namespace assay::bench {
namespace {

void append(std::vector<ValidationRow>& all, const std::vector<ValidationRow>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

Conclusion at_most(const std::string& statement, double value, double limit) {
  return {statement, value, value <= limit};
}

Conclusion within(const std::string& statement, double value, double low, double high) {
  return {statement, value, low <= value && value <= high};
}

Conclusion at_least(const std::string& statement, double value, double limit) {
  return {statement, value, value >= limit};
}

/// Returns the schedule that the planner finds for the device with its default numbers. If a test
/// changes an assumed number, the same schedule is used, because a real kernel does not change its
/// schedule.
optimized::schedules::Woven our_schedule(const optimized::schedules::Attention& attention) {
  using namespace optimized::schedules;
  static std::map<bool, Woven> known;
  if (!known.contains(attention.causal))
    for (const ModelledSchedule& plan : plans(attention, device::a2()))
      if (const auto* woven = std::get_if<Woven>(&plan.schedule)) {
        known[attention.causal] = *woven;
        break;
      }
  return known.at(attention.causal);
}

}  // namespace

std::vector<ValidationRow> validation_rows(const Adjust& adjust) {
  std::vector<ValidationRow> all = gemm_rows(adjust);
  append(all, memory_rows(adjust));
  append(all, forward_rows(adjust));
  append(all, gradient_rows(adjust));
  return all;
}

HoldOut hold_out_errors(const std::vector<ValidationRow>& rows) {
  std::vector<double> errors;
  for (const ValidationRow& row : rows)
    if (row.kind == Kind::hold_out && row.error()) errors.push_back(std::abs(*row.error()));
  return {.median = median(errors), .worst = *std::max_element(errors.begin(), errors.end())};
}

std::vector<Conclusion> conclusions(const std::vector<ValidationRow>& rows, const Adjust& adjust) {
  using namespace optimized::schedules;
  std::vector<Conclusion> all;
  all.push_back(
      at_most("median error of hold-out rows is at most 0.15", hold_out_errors(rows).median, 0.15));
  for (const ValidationRow& row : rows)
    if (row.row.rfind("B1", 0) == 0)
      all.push_back(within(row.row + " is within 10 % of 2.56 to 2.64", *row.predicted, 0.9 * 2.56,
                           1.1 * 2.64));
  device::Spec device = device::a2();
  adjust(device);
  for (const bool causal : {false, true}) {
    const Attention attention = {
        .heads = 8, .heads_kv = 8, .seq_q = 8192, .seq_kv = 8192, .causal = causal};
    const Modelled vendor = model(attention, same_ab(), device);
    const Modelled ours = model(attention, our_schedule(attention), device);
    const std::string of = std::string(", S = 8192, ") + (causal ? "causal" : "dense");
    all.push_back(
        within("sameAB uses 0.4 to 0.6 of the cube" + of, vendor.cube_utilisation, 0.4, 0.6));
    all.push_back(at_least("our schedule uses 0.65 of the cube" + of, ours.cube_utilisation, 0.65));
    all.push_back(at_least("our schedule is 1.25 times as fast as sameAB" + of,
                           vendor.seconds / ours.seconds, 1.25));
  }
  return all;
}

}  // namespace assay::bench
