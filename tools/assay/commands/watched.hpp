#pragma once

#include <optional>
#include <string>

#include "assay/conformance/operators.hpp"
#include "flags/choose.hpp"
#include "printing/waiting.hpp"
#include "stored/recorder.hpp"

namespace assay::cli {

/// Calls `work`, which judges the case, and returns its result. Meanwhile a second thread prints
/// the current phase. With --in-process there is no second thread, and nothing is printed.
template <class Op, class Judge>
auto watched(const conformance::Case<Op>& c, const ImplementationFlags& flags,
             const std::string& command, Recorder<Op>& recorder, const Context& context,
             const Judge& work) {
  if (flags.in_process) return work();
  Waiting waiting(context, {.what = command,
                            .expected_seconds = conformance::Suite<Op>::expected_cost(c),
                            .is_foreign = !runs_here<Op>(context.registry, flags)});
  waiting.phase("the judge prepares");
  recorder.set_listener([&waiting](bool runs) {
    waiting.phase(runs ? "the implementation runs" : "the judge compares");
  });
  struct Untold {
    Recorder<Op>& recorder;
    ~Untold() { recorder.set_listener({}); }
  } untold{recorder};
  return work();
}

}  // namespace assay::cli
