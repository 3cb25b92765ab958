#pragma once

#include <functional>
#include <ostream>
#include <utility>

#include "assay/conformance/report/listeners.hpp"
#include "flags/deliveries.hpp"

namespace assay::cli {

/// Stores the cases of a sweep until the store fails, e.g. because its folder is gone. Then the
/// sweep goes on for its other results.
class GuardedStore final : public conformance::SweepListener {
 public:
  GuardedStore(fixtures::Store& store, conformance::StoreListener::RecordOf record_of,
               Deliveries& deliveries, std::ostream& err)
      : inner_(store, std::move(record_of)), deliveries_(deliveries), err_(err) {}

  void on_case(const conformance::CaseReport& report, std::int64_t index) override {
    if (deliveries_.has_failed("--store")) return;  // a store without one case stays so
    deliveries_.attempt("--store", [&] { inner_.on_case(report, index); });
    if (deliveries_.has_failed("--store"))
      err_ << "the store cannot be written; the sweep goes on without it\n" << std::flush;
  }
  void on_skipped(const conformance::CaseReport&, std::int64_t) override {}

 private:
  conformance::StoreListener inner_;
  Deliveries& deliveries_;
  std::ostream& err_;
};

}  // namespace assay::cli
