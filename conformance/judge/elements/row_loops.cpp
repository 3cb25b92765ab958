#include "judge/elements/row_loops.hpp"

#include "judge/elements/lane_loops.hpp"

namespace assay::conformance {

using engine::Instructions;

bool all_within(const RowNumbers& row, double share, double* ratios) {
  bool within = false;
  engine::read_with(Instructions::fastest,
                    [&](auto compiled) { within = all_within(compiled, row, share, ratios); });
  return within;
}

void fill_moments(const RowNumbers& row, const Arithmetic& arithmetic, const MomentRow& to) {
  engine::read_with(Instructions::fastest,
                    [&](auto compiled) { fill_moments(compiled, row, arithmetic, to); });
}

bool all_certain(const RowNumbers& row, double share, const NearestSteps& steps) {
  bool certain = false;
  engine::read_with(Instructions::fastest,
                    [&](auto compiled) { certain = all_certain(compiled, row, share, steps); });
  return certain;
}

double largest_radius(const RowNumbers& row) {
  double largest = 0;
  engine::read_with(Instructions::fastest,
                    [&](auto compiled) { largest = largest_radius(compiled, row); });
  return largest;
}

}  // namespace assay::conformance
