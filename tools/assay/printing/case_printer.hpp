#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "assay/conformance/sweep/sweep.hpp"
#include "printing/waiting.hpp"

namespace assay::cli {

/// Prints one line for each case as soon as it is judged. A sweep with `--verbose` uses this class.
class CasePrinter final : public conformance::SweepListener {
 public:
  explicit CasePrinter(std::ostream& out) : out_(out) {}
  void on_case(const conformance::CaseReport& report, std::int64_t) override {
    out_ << spec::to_string(report.verdict.value()) << "  " << report.command_line << '\n'
         << std::flush;
  }

 private:
  std::ostream& out_;
};

/// Prints the name of a case that takes long, while the case runs. Pass this listener first: it
/// must stop its output before other listeners print.
class SlowCasePrinter final : public conformance::SweepListener {
 public:
  void on_case(const conformance::CaseReport&, std::int64_t) override { end(); }
  void begin(const Context& context, std::string what) {
    Task task{.what = std::move(what)};
    if (waiting_)
      waiting_->begin(std::move(task));
    else
      waiting_.emplace(context, std::move(task));
  }
  void end() {
    if (waiting_) waiting_->stop();
  }

 private:
  std::optional<Waiting> waiting_;
};

}  // namespace assay::cli
