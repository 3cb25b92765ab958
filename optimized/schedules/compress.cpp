#include "assay/optimized/schedules/compress.hpp"

#include <algorithm>
#include <numeric>

#include "assay/device/scratchpad.hpp"
#include "schedules/gradient_time.hpp"
#include "schedules/report.hpp"

namespace assay::optimized::schedules {
namespace {

using device::Bytes;
using device::ceil_divide;
using device::Cycles;
using device::round_up;
using device::TaskId;

constexpr std::int64_t fp32_bytes = 4, granule = 16, sum_lanes = 16, most_tokens = 256;
constexpr std::int64_t block_bytes = 32;  // of a vector instruction: a weight is repeated in it

std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }

std::int64_t windows_in(const Compression& c, std::int64_t length) {
  return length < c.size ? 0 : (length - c.size) / c.stride + 1;
}

std::int64_t vector_cores(const device::Spec& device) {
  return static_cast<std::int64_t>(device.cores.vector.value);
}

Cycles compute(const device::Spec& spec, const device::VectorCost& operation,
               std::int64_t numbers) {
  return vector(spec, operation, {numbers * fp32_bytes});
}

/// Returns the maximum number of windows that `tokens` consecutive tokens can touch, at any
/// position.
std::int64_t windows_over(const Compression& c, std::int64_t tokens) {
  return std::min(c.windows(), (tokens + c.size - 2) / c.stride + 1);
}

/// Appends the instructions for a sequence of pieces of work: load, compute and store each piece.
/// Loads and stores use several buffers each, so that they overlap with the arithmetic.
class Passing {
 public:
  Passing(device::Instructions& code, std::int64_t buffers)
      : code_(code), in_(index(buffers)), out_(index(buffers)) {}

  struct Piece {
    Bytes read, written;
    double missing;  ///< fraction of the read bytes that is not in L2
    Cycles cycles;
    bool added;  ///< true: added to global memory, not stored
  };

  void pass(const Piece& piece) {
    const TaskId loaded = code_.vector_load(piece.read, {in_.take()}, piece.missing);
    const TaskId computed = code_.compute(piece.cycles, {loaded, out_.take()});
    in_.give(computed);
    out_.give(piece.added ? code_.vector_add(piece.written, {computed})
                          : code_.vector_store(piece.written, {computed}, /*missing=*/1));
  }

 private:
  device::Instructions& code_;
  device::Ring in_, out_;
};

/// Returns the cycles per window. They consist of two products (for the input gradient and for the
/// weight gradient) and two additions of their results.
Cycles of_window(const device::Spec& spec, std::int64_t numbers, bool added_elsewhere) {
  const auto& v = spec.vector;
  Cycles cycles =
      compute(spec, v.mul, numbers) + compute(spec, v.mul, numbers) + compute(spec, v.add, numbers);
  if (!added_elsewhere) cycles += compute(spec, v.add, numbers);
  return cycles;
}

std::int64_t tokens_of(const Compression& c, const ByWindow& by) {
  return ceil_divide(c.size, by.pieces);
}

Passing::Piece piece_of(const Compression& c, const ByWindow& by, const device::Spec& spec) {
  const std::int64_t numbers = tokens_of(c, by) * c.head_dim;
  const auto& v = spec.vector;
  return {.read = (numbers + c.head_dim) * c.element,
          .written = {numbers * fp32_bytes},
          .missing = std::min(1.0, static_cast<double>(c.stride) / static_cast<double>(c.size)),
          .cycles = compute(spec, v.cast_to_fp32, numbers) +
                    compute(spec, v.cast_to_fp32, c.head_dim) +
                    of_window(spec, numbers, /*added_elsewhere=*/true),
          .added = true};
}

Passing::Piece piece_of(const Compression& c, const ByTile& by, const device::Spec& spec) {
  const std::int64_t numbers = by.tokens * by.channels, windows = windows_over(c, by.tokens);
  const auto& v = spec.vector;
  // On average, a token is in size / stride windows.
  const std::int64_t pairs = ceil_divide(by.tokens * c.size, c.stride) * by.channels;
  Cycles cycles = compute(spec, v.cast_to_fp32, numbers) +
                  compute(spec, v.cast_to_fp32, windows * by.channels) +
                  compute(spec, v.cast_to_16bit, numbers);
  for (std::int64_t window = 0; window < windows; ++window)
    cycles += of_window(spec, ceil_divide(pairs, windows), /*added_elsewhere=*/false);
  return {.read = (numbers + windows * by.channels) * c.element,
          .written = numbers * c.element,
          .missing = 1,
          .cycles = cycles,
          .added = false};
}

std::int64_t tokens_of(const Compression& c, const ByOutput& by) {
  return (by.windows - 1) * c.stride + c.size;
}

/// The tokens that a tile shares with the previous one are in L2.
Passing::Piece piece_of(const Compression& c, const ByOutput& by, const device::Spec& spec) {
  const std::int64_t tokens = tokens_of(c, by), outputs = by.windows * by.channels;
  const auto& v = spec.vector;
  Cycles cycles =
      compute(spec, v.cast_to_fp32, tokens * by.channels) + compute(spec, v.cast_to_16bit, outputs);
  for (std::int64_t window = 0; window < by.windows; ++window)
    cycles += compute(spec, v.mul, c.size * by.channels) +
              compute(spec, v.add, (c.size - 1) * by.channels);
  return {.read = tokens * by.channels * c.element,
          .written = outputs * c.element,
          .missing = std::min(
              1.0, static_cast<double>(by.windows * c.stride) / static_cast<double>(tokens)),
          .cycles = cycles,
          .added = false};
}

template <class Schedule>
std::int64_t slices(const Compression& c, const Schedule& by) {
  return ceil_divide(c.head_dim, by.channels);
}

std::int64_t items(const Compression& c, const ByWindow& by) {
  return c.windows() * c.heads * by.pieces;
}

std::int64_t items(const Compression& c, const ByTile& by) {
  std::int64_t tiles = 0;
  for (const std::int64_t length : c.lengths) tiles += ceil_divide(length, by.tokens);
  return tiles * c.heads * slices(c, by);
}

std::int64_t items(const Compression& c, const ByOutput& by) {
  std::int64_t tiles = 0;
  for (const std::int64_t length : c.lengths)
    tiles += ceil_divide(windows_in(c, length), by.windows);
  return tiles * c.heads * slices(c, by);
}

std::int64_t buffers(const ByWindow&) { return 2; }
std::int64_t buffers(const ByTile& by) { return by.buffers; }
std::int64_t buffers(const ByOutput& by) { return by.buffers; }

Compulsory tensor_bytes(const Compression& c) {
  const std::int64_t channels = c.heads * c.head_dim, weights = c.size * c.heads;
  if (c.direction == Direction::forward)
    return {.read = (c.tokens() * channels + weights) * c.element,
            .written = c.windows() * channels * c.element};
  return {.read = ((c.tokens() + c.windows()) * channels + weights) * c.element,
          .written = (c.tokens() * channels + weights) * c.element};
}

/// The gradient computes two products per pair of token and window, the forward one.
double flop_of(const Compression& c) {
  return (c.direction == Direction::forward ? 2.0 : 4.0) *
         static_cast<double>(c.windows() * c.size) * static_cast<double>(c.heads * c.head_dim);
}

double peak_of(const device::Spec& device) {
  constexpr double lanes = 64;
  return 2 * lanes * device.cores.vector.value * device.cores.clock.value;
}

/// Returns the seconds of the passes over global memory. One pass adds up the partial sums of the
/// weights. If the gradients of overlapping windows are added in global memory, there are two more
/// passes: one clears the sums before, one stores them as outputs afterwards.
double passes(const Compression& c, bool overlapping, const device::Spec& device) {
  const Bytes weights = {vector_cores(device) * c.heads * c.size * fp32_bytes};
  double seconds = pass_seconds(device, weights, c.size * c.heads * c.element, {});
  if (!overlapping) return seconds;
  const std::int64_t numbers = c.tokens() * c.heads * c.head_dim;
  const Bytes sums = {numbers * fp32_bytes}, outputs = numbers * c.element;
  const Bytes missing = {
      std::max<std::int64_t>(0, sums.count - bytes_of(device.memories.l2).count)};
  seconds += pass_seconds(device, {}, sums, missing);
  return seconds + pass_seconds(device, sums, outputs, missing + outputs);
}

/// Returns the modelled time of the tiles, the launch, and `passes` seconds.
template <class Schedule>
Modelled model_of(const Compression& c, const Schedule& schedule, double passes,
                  const device::Spec& device) {
  buffers_of(c, schedule, device);
  constexpr std::int64_t cores_of_program = 2;
  const std::int64_t cores = vector_cores(device), all = items(c, schedule);
  const std::int64_t active =
      std::clamp<std::int64_t>(ceil_divide(all, cores_of_program), 1, cores / cores_of_program);
  const device::Share share = share_of(device, active);
  const Passing::Piece piece = piece_of(c, schedule, device);
  const Rounds rounds = run_rounds(
      device, share, static_cast<double>(std::max<std::int64_t>(1, ceil_divide(all, cores))), 32,
      [&](device::Instructions& code, std::int64_t count) {
        Passing passing(code, buffers(schedule));
        for (std::int64_t k = 0; k < count; ++k) passing.pass(piece);
      });
  return finished(rounds, device.overheads.launch.value + passes, share, 0, device);
}

template <class Schedule>
device::Program program(const Compression& c, const Schedule& schedule, const device::Spec& device,
                        std::int64_t count) {
  device::Instructions code(device);
  Passing passing(code, buffers(schedule));
  for (std::int64_t k = 0; k < count; ++k) passing.pass(piece_of(c, schedule, device));
  return code.program();
}

struct TileOf {
  std::int64_t tokens, channels, windows;
};

/// Returns the buffers in the unified buffer of a vector core. Each tensor that is loaded or stored
/// has `buffers` buffers; the tensors of the computation itself have one each.
std::vector<Buffer> rooms(const Compression& c, const TileOf& of, Bytes stored,
                          std::int64_t buffers, const device::Spec& device) {
  const auto& [tokens, channels, windows] = of;
  device::Scratchpad ub("UB", bytes_of(device.memories.ub), bytes_of(device.memories.ub_alignment));
  const std::int64_t tile = tokens * channels;
  ub.allocate(buffers * tile * c.element, "input");
  ub.allocate(buffers * windows * channels * c.element, "output gradients");
  ub.allocate(buffers * stored, "input gradients");
  ub.allocate({tile * fp32_bytes}, "wide input");
  ub.allocate({windows * channels * fp32_bytes}, "wide output gradients");
  ub.allocate({2 * tile * fp32_bytes}, "products and sums");
  ub.allocate({c.size * (sum_lanes + 1) * fp32_bytes},
              "weights and partial sums of their gradients");
  return listed({ub});
}

std::vector<CompressPlan> sorted(std::vector<CompressPlan> all) {
  std::stable_sort(all.begin(), all.end(), [](const CompressPlan& x, const CompressPlan& y) {
    return x.modelled.seconds < y.modelled.seconds;
  });
  return all;
}

/// Calls visit(channels) for every width into which the channels of a head can be split evenly.
template <class Visitor>
void for_each_width(const Compression& c, const Visitor& visit) {
  const std::int64_t whole = round_up(c.head_dim, granule);
  for (std::int64_t cuts = 1, last = 0; cuts <= whole / granule; ++cuts)
    if (const std::int64_t channels = round_up(ceil_divide(whole, cuts), granule); channels != last)
      visit(last = channels);
}

template <class Schedule>
void add_plan(std::vector<CompressPlan>& all, const char* name, const Compression& c,
              const Schedule& schedule, const device::Spec& device) {
  try {
    all.push_back({name, schedule, model(c, schedule, device)});
  } catch (const device::DeviceFault&) {
    return;  // The unified buffer is too small: the next candidate may fit.
  }
}

/// Returns the schedules of the forward. `most`: windows of the longest sequence.
std::vector<CompressPlan> forward_plans(const Compression& c, std::int64_t most,
                                        const device::Spec& device) {
  std::vector<CompressPlan> all;
  for (std::int64_t windows = 1; windows <= std::min<std::int64_t>(most, 32);
       windows += windows < 8 ? 1 : 4)
    for_each_width(c, [&](std::int64_t channels) {
      for (const std::int64_t buffers : {1, 2})
        add_plan(all, "by output", c, ByOutput{windows, channels, buffers}, device);
    });
  return sorted(std::move(all));
}

}  // namespace

std::int64_t Compression::tokens() const {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

std::int64_t Compression::windows() const {
  std::int64_t all = 0;
  for (const std::int64_t length : lengths) all += windows_in(*this, length);
  return all;
}

std::string ByWindow::to_text() const {
  return "window by window" + (pieces > 1 ? " in " + std::to_string(pieces) + " pieces" : "") +
         ", token gradients added in global memory";
}

std::string ByTile::to_text() const {
  return "tiles of " + std::to_string(tokens) + " tokens x " + std::to_string(channels) +
         " channels, " + std::to_string(buffers) + " buffers per moved tensor";
}

std::string ByOutput::to_text() const {
  return "tiles of " + std::to_string(windows) + " windows x " + std::to_string(channels) +
         " channels, " + std::to_string(buffers) + " buffers per moved tensor";
}

std::string CompressPlan::to_text() const {
  return std::visit([](const auto& of) { return of.to_text(); }, schedule);
}

std::vector<Buffer> buffers_of(const Compression& c, const ByWindow& by,
                               const device::Spec& device) {
  const std::int64_t tokens = tokens_of(c, by);
  return rooms(c, {tokens, c.head_dim, 1}, {tokens * c.head_dim * fp32_bytes}, buffers(by), device);
}

std::vector<Buffer> buffers_of(const Compression& c, const ByTile& by, const device::Spec& device) {
  return rooms(c, {by.tokens, by.channels, windows_over(c, by.tokens)},
               by.tokens * by.channels * c.element, by.buffers, device);
}

std::vector<Buffer> buffers_of(const Compression& c, const ByOutput& by,
                               const device::Spec& device) {
  device::Scratchpad ub("UB", bytes_of(device.memories.ub), bytes_of(device.memories.ub_alignment));
  const std::int64_t tile = tokens_of(c, by) * by.channels, outputs = by.windows * by.channels;
  ub.allocate(by.buffers * tile * c.element, "input");
  ub.allocate(by.buffers * outputs * c.element, "output");
  ub.allocate({tile * fp32_bytes}, "wide input");
  ub.allocate({c.size * by.channels * fp32_bytes}, "products of a window");
  ub.allocate({outputs * fp32_bytes}, "sums");
  ub.allocate({c.size * block_bytes}, "weights");
  return listed({ub});
}

device::Program program_of(const Compression& c, const ByWindow& by, const device::Spec& device,
                           std::int64_t count) {
  return program(c, by, device, count);
}

device::Program program_of(const Compression& c, const ByTile& by, const device::Spec& device,
                           std::int64_t count) {
  return program(c, by, device, count);
}

device::Program program_of(const Compression& c, const ByOutput& by, const device::Spec& device,
                           std::int64_t count) {
  return program(c, by, device, count);
}

Modelled model(const Compression& c, const ByWindow& by, const device::Spec& device) {
  return model_of(c, by, passes(c, /*overlapping=*/true, device), device);
}

Modelled model(const Compression& c, const ByTile& by, const device::Spec& device) {
  return model_of(c, by, passes(c, /*overlapping=*/false, device), device);
}

Modelled model(const Compression& c, const ByOutput& by, const device::Spec& device) {
  return model_of(c, by, /*passes=*/0, device);
}

std::vector<CompressPlan> vendor_plans(const Compression& c, const device::Spec& device) {
  std::vector<CompressPlan> all;
  if (c.direction == Direction::forward) return all;
  for (std::int64_t pieces = 1; pieces <= c.size && all.empty(); pieces *= 2)
    add_plan(all, "by window", c, ByWindow{pieces}, device);
  return all;
}

std::vector<CompressPlan> plans(const Compression& c, const device::Spec& device) {
  const std::int64_t longest = *std::max_element(c.lengths.begin(), c.lengths.end());
  if (c.direction == Direction::forward) return forward_plans(c, windows_in(c, longest), device);
  std::vector<CompressPlan> all = vendor_plans(c, device);
  for (std::int64_t tokens = granule; tokens <= std::min(most_tokens, round_up(longest, granule));
       tokens += granule)
    for_each_width(c, [&](std::int64_t channels) {
      for (const std::int64_t buffers : {1, 2})
        add_plan(all, "by tile", c, ByTile{tokens, channels, buffers}, device);
    });
  return sorted(std::move(all));
}

namespace {

Workload work_of(const Compression& c, const device::Spec& device) {
  return {.flop = flop_of(c),
          .peak = peak_of(device),
          .compulsory = tensor_bytes(c),
          .utilised = "vector cores",
          .direction = c.direction,
          .published = c.direction == Direction::gradient};
}

Candidate candidate(const Compression& c, const CompressPlan& plan, const device::Spec& device) {
  const auto buffers = [&] {
    return std::visit([&](const auto& of) { return buffers_of(c, of, device); }, plan.schedule);
  };
  const auto program = [&, rounds = shown_rounds(plan.modelled, 16)] {
    return std::visit([&](const auto& of) { return program_of(c, of, device, rounds); },
                      plan.schedule);
  };
  return {plan.name, plan.to_text(), plan.modelled, buffers, program};
}

std::vector<Candidate> candidates(const Compression& c, const std::vector<CompressPlan>& plans,
                                  const device::Spec& device) {
  std::vector<Candidate> all;
  for (const CompressPlan& plan : plans) all.push_back(candidate(c, plan, device));
  return all;
}

}  // namespace

std::string report(const Compression& c, const device::Spec& device) {
  const std::vector<CompressPlan> all = plans(c, device), vendors = vendor_plans(c, device);
  return report_of(work_of(c, device), candidates(c, all, device), candidates(c, vendors, device),
                   device);
}

std::string trace(const Compression& c, const device::Spec& device) {
  const std::vector<CompressPlan> all = plans(c, device);
  if (all.empty()) return {};
  return trace_of(work_of(c, device), candidate(c, all.front(), device), device);
}

}  // namespace assay::optimized::schedules
