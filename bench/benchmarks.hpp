#pragma once

#include <istream>

#include "recorder.hpp"

namespace assay::bench {

/// Multiply-adds per second and thread of the reference in double, Quad and Fifty, and its blocked
/// forward.
void reference_speed(Recorder& recorder, std::size_t runs);

/// The optimized gradient on the host, fp32 and bf16, dense and causal, beside composed matrix
/// products of Eigen in the same turns: both rates, the ratio of their times, and how far their
/// results are apart.
void optimized_speed(Recorder& recorder, std::size_t runs);

/// Runs the optimized gradient once for each line that comes in, and answers with the seconds and
/// those of processors: so a program can let others take turns with it. A line: type, dense or
/// causal, host mode, threads, heads, tokens, channels.
void take_turns(std::istream& in, std::ostream& out);

/// As optimized_speed of selected attention, beside products of Eigen composed token by token over
/// gathered keys.
void selected_speed(Recorder& recorder, std::size_t runs);

/// The optimized gradient of compression on the host: multiply-adds and bytes of its tensors per
/// second.
void compress_speed(Recorder& recorder, std::size_t runs);

/// Cases per second that the judge handles, the implementation's own time included.
void judge_speed(Recorder& recorder, std::size_t runs);

/// What the device model says of schedules, ours and the vendor's: times, bytes, shares. Exact.
void modelled_time(Recorder& recorder);

/// Every row of the validation table of the device facts, predicted beside published: one JSON
/// object a line, with the lowest and highest prediction while each assumed number moves across its
/// range. Behind the rows what they are read for, and which numbers change that.
void validation(std::ostream& out);

/// Moves each assumed number of the device to both ends of its range and reports how the time
/// changes and whether another pipe becomes the busiest.
void sensitivity(Recorder& recorder);

}  // namespace assay::bench
