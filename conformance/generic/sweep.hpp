#pragma once

#include "assay/conformance/examination.hpp"
#include "assay/conformance/sweep.hpp"

namespace assay::conformance {

template <class Op>
void Sweep::run(std::span<const Case<Op>> cases, spec::Implementation<Op>& implementation) {
  for (const Case<Op>& c : cases) {
    if (is_over()) return;
    const CaseReport* earlier =
        control_.finished ? control_.finished(case_id(command_line(c))) : nullptr;
    add(earlier != nullptr ? *earlier : examine(c, implementation));
  }
}

template <class Op>
Summary sweep(std::span<const Case<Op>> cases, spec::Implementation<Op>& implementation,
              std::span<SweepListener* const> listeners, const SweepControl& control) {
  Sweep all(listeners, control);
  append(all.summary().rows, row_coverage<Op>());
  append(all.summary().pairs, pair_coverage<Op>());
  all.start(std::ssize(cases), implementation.name());
  all.run(cases, implementation);
  return all.finish();
}

}  // namespace assay::conformance
