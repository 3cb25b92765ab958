#include "assay/conformance/sweep/sweep.hpp"

#include <utility>

#include "judge/run_kernel.hpp"

namespace assay::conformance {

Sweep::Sweep(std::span<SweepListener* const> listeners, SweepControl control)
    : listeners_(listeners.begin(), listeners.end()), control_(std::move(control)) {}

void Sweep::start(std::int64_t planned, const std::string& implementation) {
  summary_.planned = planned;
  summary_.implementation = implementation;
  start_ = std::chrono::steady_clock::now();
  for (SweepListener* listener : listeners_) listener->on_start(planned, implementation);
}

bool Sweep::is_over() {
  if (control_.stop != nullptr && *control_.stop) summary_.interrupted = true;
  return summary_.interrupted || ended_ ||
         (control_.budget_seconds > 0 && seconds_since(start_) >= control_.budget_seconds);
}

void Sweep::add(const CaseReport& report, Event event) {
  const std::int64_t index = summary_.cases;
  count(summary_, report);
  for (SweepListener* listener : listeners_) (listener->*event)(report, index);
  if (control_.ends_after && control_.ends_after(report)) ended_ = true;
}

const CaseReport* Sweep::earlier(const std::string& id) const {
  return control_.finished ? control_.finished(id) : nullptr;
}

void Sweep::conclude(const CaseReport& report, bool resumed) {
  if (!ended_) add(report, resumed ? &SweepListener::on_resumed : &SweepListener::on_case);
}

void Sweep::skip(const CaseReport& report) {
  const std::int64_t index = summary_.cases;
  count(summary_, report);
  for (SweepListener* listener : listeners_) listener->on_skipped(report, index);
}

const Summary& Sweep::finish() {
  summary_.seconds = seconds_since(start_);
  for (SweepListener* listener : listeners_) listener->on_end(summary_);
  return summary_;
}

}  // namespace assay::conformance
