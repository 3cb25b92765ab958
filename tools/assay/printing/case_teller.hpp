#pragma once

#include <ostream>

#include "assay/conformance/report/sweep.hpp"

namespace assay::cli {

/// Tells each case as it is judged, a line each: what `--verbose` adds to a sweep.
class CaseTeller final : public conformance::SweepListener {
 public:
  explicit CaseTeller(std::ostream& out) : out_(out) {}
  void on_case(const conformance::CaseReport& report, std::int64_t) override {
    out_ << spec::to_string(report.verdict.value) << "  " << report.command_line << '\n'
         << std::flush;
  }

 private:
  std::ostream& out_;
};

}  // namespace assay::cli
