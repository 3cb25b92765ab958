#pragma once

#include <istream>

#include "recorder.hpp"

namespace assay::bench {

/// Measures multiply-adds per second and thread of the reference in double, Quad and Fifty, and of
/// the forward that is computed in blocks.
void reference_speed(Recorder& recorder, std::size_t runs);

/// Measures the optimized gradient on the host, in fp32 and bf16, dense and causal. Its runs
/// alternate with matrix products of Eigen. Records both rates, the ratio of their times, and the
/// difference of their results.
void optimized_speed(Recorder& recorder, std::size_t runs);

/// For each input line, runs the optimized gradient once and prints the wall seconds and the
/// processor seconds, so that another program can alternate these runs with its own. A line
/// contains: type, dense or causal, host mode, threads, heads, tokens, channels.
void take_turns(std::istream& in, std::ostream& out);

/// Like optimized_speed, but for selected attention. The comparison uses Eigen: for each token it
/// gathers the listed keys into a matrix and multiplies.
void selected_speed(Recorder& recorder, std::size_t runs);

/// Measures the optimized gradient of compression on the host: multiply-adds per second, and tensor
/// bytes per second.
void compress_speed(Recorder& recorder, std::size_t runs);

/// Measures how many cases per second the judge processes. The time includes that of the
/// implementation.
void judge_speed(Recorder& recorder, std::size_t runs);

/// Records the times, bytes and shares that the device model predicts for our schedules and the
/// vendor's. These numbers are computed, not measured, so they do not vary.
void modelled_time(Recorder& recorder);

/// Prints every row of the table that compares the device model with published times, one JSON
/// object per line: the predicted and the published number, and the lowest and highest prediction
/// if each assumed number of the device varies within its range. After the rows, it prints the
/// conclusions and the assumed numbers that change them.
void validation(std::ostream& out);

/// Sets each assumed number of the device to both ends of its range. Reports how the time changes
/// and whether another pipe (unit that executes instructions) becomes the busiest one.
void sensitivity(Recorder& recorder);

}  // namespace assay::bench
