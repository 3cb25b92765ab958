#include "validation/rows.hpp"

#include <algorithm>
#include <cmath>

#include "assay/optimized/schedules/gradient.hpp"
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
      all.push_back(within(row.row + " lies within 10 % of 2.56 to 2.64", *row.predicted,
                           0.9 * 2.56, 1.1 * 2.64));
  device::Spec device = device::a2();
  adjust(device);
  for (const bool causal : {false, true}) {
    const Attention attention = {
        .heads = 8, .heads_kv = 8, .seq_q = 8192, .seq_kv = 8192, .causal = causal};
    const Modelled vendor = model(attention, same_ab(), device);
    all.push_back(within(std::string("sameAB uses 0.4 to 0.6 of the cube, S = 8192, ") +
                             (causal ? "causal" : "dense"),
                         vendor.cube_utilisation, 0.4, 0.6));
  }
  return all;
}

}  // namespace assay::bench
