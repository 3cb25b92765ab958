#pragma once

#include <istream>

#include "recorder.hpp"

namespace assay::bench {

/// Multiply-adds per second and thread, for the reference in double, Quad and Fifty, and for the
/// blocked forward.
void reference_speed(Recorder& recorder, std::size_t runs);

/// The optimized gradient on the host, in fp32 and bf16, dense and causal. Its runs alternate with
/// matrix products of Eigen. Records both rates, the ratio of their times, and the difference of
/// their results.
void optimized_speed(Recorder& recorder, std::size_t runs);

/// For each input line, runs the optimized gradient once and prints the wall seconds and the
/// processor seconds. So another program can alternate these runs with its own. A line contains:
/// type, dense or causal, host mode, threads, heads, tokens, channels.
void take_turns(std::istream& in, std::ostream& out);

/// Like optimized_speed, for selected attention. Compares with Eigen's products, which compute
/// token by token over the gathered keys.
void selected_speed(Recorder& recorder, std::size_t runs);

/// The optimized gradient of compression on the host: multiply-adds per second, and bytes of its
/// tensors per second.
void compress_speed(Recorder& recorder, std::size_t runs);

/// The number of cases per second that the judge processes. The time includes that of the
/// implementation.
void judge_speed(Recorder& recorder, std::size_t runs);

/// For our schedules and the vendor's: times, bytes and shares that the device model predicts. The
/// numbers are exact, because nothing is measured.
void modelled_time(Recorder& recorder);

/// Prints every row of the validation table in the page on device facts, one JSON object per line:
/// the predicted and the published number, and the lowest and highest prediction when each assumed
/// number of the device moves across its range. After the rows, it prints the conclusions and the
/// assumed numbers that change them.
void validation(std::ostream& out);

/// Moves each assumed number of the device to both ends of its range. Reports how the time changes
/// and whether another pipe becomes the busiest.
void sensitivity(Recorder& recorder);

}  // namespace assay::bench
