#pragma once

#include <istream>

#include "recorder.hpp"

namespace assay::bench {

/// Measures the speed of the reference (multiply-adds per second and thread). Number types: double,
/// and the wider Quad (113-bit mantissa) and Fifty (50 decimal digits). Also measures the forward
/// pass that is computed in blocks.
void reference_speed(Recorder& recorder, std::size_t runs);

/// Measures the optimized gradient on the host, in fp32 and bf16, dense and causal. Its runs
/// alternate with matrix products of the library Eigen. Records both rates, the ratio of their
/// times, and the difference of their results.
void optimized_speed(Recorder& recorder, std::size_t runs);

/// For each input line, runs the optimized gradient once and prints the wall seconds and the
/// processor seconds. Another program can then alternate these runs with its own. An input line
/// contains: type, dense or causal, host mode (the instruction set and number formats that the host
/// uses), threads, heads, tokens, channels.
void take_turns(std::istream& in, std::ostream& out);

/// Measures the optimized gradient of selected attention (each token attends only to its listed key
/// blocks). Its runs alternate with code that uses Eigen: for each token, it gathers the listed
/// keys into a matrix and multiplies.
void selected_speed(Recorder& recorder, std::size_t runs);

/// Measures the optimized gradient of NSA compression (keys are compressed by windows) on the host:
/// multiply-adds per second, and tensor bytes per second.
void compress_speed(Recorder& recorder, std::size_t runs);

/// Measures how many cases per second the judge processes. The time includes the run of the judged
/// implementation.
void judge_speed(Recorder& recorder, std::size_t runs);

/// Records the times, bytes and shares (busy fractions of each unit) that the device model predicts
/// for our schedules and for the vendor's schedules. These numbers are computed, not measured, so
/// they do not vary.
void modelled_time(Recorder& recorder);

/// Prints the table that compares the device model with published times, one JSON object per row. A
/// row contains the predicted and the published number, and the range of the prediction if each
/// assumed number of the device varies within its range. After the rows, prints the conclusions,
/// each with the assumed numbers that change it.
void validation(std::ostream& out);

/// Sets each assumed number of the device to both ends of its range. Reports how the modelled time
/// changes, and whether another pipe (unit that executes instructions) becomes the busiest one.
void sensitivity(Recorder& recorder);

}  // namespace assay::bench
