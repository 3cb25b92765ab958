#pragma once

#include <functional>
#include <ostream>
#include <utility>

#include "assay/conformance/report/listeners.hpp"
#include "flags/deliveries.hpp"

namespace assay::cli {

/// Stores the cases of a sweep. If the store fails, for example because its folder was removed, the
/// sweep continues without it.
class GuardedStore final : public conformance::SweepListener {
 public:
  GuardedStore(fixtures::Store& store, conformance::StoreListener::RecordOf record_of,
               Deliveries& deliveries, std::ostream& err)
      : inner_(store, std::move(record_of)), deliveries_(deliveries), err_(err) {}

  void on_case(const conformance::CaseReport& report, std::int64_t index) override {
    if (deliveries_.has_failed("--store")) return;  // after a failure the store stays incomplete
    deliveries_.attempt("--store", [&] { inner_.on_case(report, index); });
    if (deliveries_.has_failed("--store"))
      err_ << "the store cannot be written; the sweep continues without it\n" << std::flush;
  }
  void on_skipped(const conformance::CaseReport&, std::int64_t) override {}

 private:
  conformance::StoreListener inner_;
  Deliveries& deliveries_;
  std::ostream& err_;
};

}  // namespace assay::cli
