#include <utility>

#include "operators/nsa_compress_grad/plan/sampling.hpp"
#include "plan/draws.hpp"

namespace assay::conformance::compress {
namespace {

using Op = spec::NsaCompressGrad;
using spec::DType;

/// Rows judged of each head where sequences are long.
constexpr std::int64_t rows_of_long_cases = 64;

/// Collects variations of one case; types take turns.
class Corners {
 public:
  explicit Corners(std::uint64_t seed) : seed_(seed) {}

  template <class Change>
  void add(const std::string& note, Change&& change) {
    CompressCase c;
    c.problem = {.dtype = cases_.size() % 2 == 0 ? DType::bf16 : DType::fp16,
                 .batch = 2,
                 .heads = 3,
                 .seq = 100,
                 .head_dim = 32};
    c.seed = seed_ + cases_.size();
    c.note = note;
    change(c);
    cases_.push_back(std::move(c));
  }
  void add_lengths(const std::string& note, std::vector<std::int64_t> lengths, std::int64_t size,
                   std::int64_t stride) {
    add(note, [&](CompressCase& c) {
      c.problem.compress_block_size = size;
      c.problem.compress_stride = stride;
      set_lengths(c.problem, std::move(lengths));
    });
  }
  std::vector<CompressCase> take() { return std::move(cases_); }

 private:
  std::uint64_t seed_;
  std::vector<CompressCase> cases_;
};

void add_extents(Corners& corners) {
  corners.add("the smallest problem", [](CompressCase& c) {
    c.problem.batch = c.problem.heads = 1;
    c.problem.seq = 32;
    c.problem.head_dim = 16;
  });
  for (const std::int64_t heads : {1, 64, 128})
    corners.add("heads", [=](CompressCase& c) { c.problem.heads = heads; });
  for (const std::int64_t head_dim : {16, 192, 256})
    corners.add("head size", [=](CompressCase& c) { c.problem.head_dim = head_dim; });
  for (const auto& [size, stride] :
       {std::pair{32, 16}, {48, 16}, {64, 16}, {128, 16}, {48, 32}, {64, 48}, {128, 112}})
    corners.add(
        "windows of " + std::to_string(size) + " every " + std::to_string(stride) + " tokens",
        [=](CompressCase& c) {
          c.problem.compress_block_size = size;
          c.problem.compress_stride = stride;
          c.problem.seq = size + 3 * stride + stride / 2;
        });
}

/// Beyond what pages of other operators and the host code allow.
void add_disputed(Corners& corners) {
  for (const std::int64_t head_dim : {1, 24, 33})
    corners.add("a head size that is no multiple of 16",
                [=](CompressCase& c) { c.problem.head_dim = head_dim; });
  corners.add("more heads than the forward names", [](CompressCase& c) { c.problem.heads = 129; });
  corners.add("a larger head than the forward names", [](CompressCase& c) {
    c.problem.heads = 1;
    c.problem.head_dim = 272;
  });
  corners.add("a larger window than the forward names", [](CompressCase& c) {
    c.problem.compress_block_size = 144;
    c.problem.seq = 1000;
  });
  for (const std::int64_t size : {16, 48})
    corners.add("windows side by side, which the forward takes", [=](CompressCase& c) {
      c.problem.compress_block_size = c.problem.compress_stride = size;
    });
  corners.add("sixteen windows a token", [](CompressCase& c) {
    c.problem.compress_block_size = 256;
    c.problem.seq = 600;
  });
}

/// Lengths around one window and one stride, and the arrays of the documents.
void add_lengths(Corners& corners) {
  for (const std::int64_t length : {31, 32, 33, 47, 48, 49})
    corners.add_lengths("a length at the edge of a window", {length, 64}, 32, 16);
  corners.add_lengths("the longest tail", {128 + 111}, 128, 112);
  corners.add_lengths("sums {0,128,272}", {0, 128, 144}, 32, 16);
  corners.add_lengths("sums {128,272}: the same windows", {128, 144}, 32, 16);
  corners.add_lengths("sums {0,120,140,272}", {0, 120, 20, 132}, 32, 16);
  corners.add_lengths("sums {0,5,49}: one window", {0, 5, 44}, 32, 16);
  corners.add_lengths("the last sequence is empty", {70, 50, 0}, 32, 16);
  corners.add_lengths("sequences of one token between windows", {64, 1, 1, 1, 64, 1, 80}, 32, 16);
  corners.add_lengths("short sequences in front of many windows", {5, 31, 0, 16 * 90}, 32, 16);
  corners.add_lengths("short sequences among many windows", {16 * 50, 5, 31, 0, 1, 16 * 50}, 32,
                      16);
  corners.add_lengths("short sequences behind many windows", {16 * 90, 5, 0, 31}, 32, 16);
  std::vector<std::int64_t> alternating;
  for (std::int64_t k = 0; k < 80; ++k) alternating.push_back(k % 2 == 0 ? 32 + k % 16 : k % 32);
  corners.add_lengths("every other sequence is short", std::move(alternating), 32, 16);
}

void add_many(Corners& corners) {
  corners.add("the documents' example", [](CompressCase& c) {
    c.problem.heads = 64;
    c.problem.head_dim = 128;
    c.problem.dtype = DType::fp16;
    c.profile = "ones";
    set_lengths(c.problem, {0, 128, 144});
  });
  corners.add("512 sequences", [](CompressCase& c) {
    c.problem.batch = 512;
    c.problem.seq = 40;
    c.problem.heads = 2;
  });
  corners.add("more tokens than 16 bits count", [](CompressCase& c) {
    Draws draws(c.seed);
    c.problem.heads = 1;
    c.problem.head_dim = 16;
    std::vector<std::int64_t> lengths;
    for (std::int64_t tokens = 0; tokens <= 0xffff; tokens += lengths.back())
      lengths.push_back(draws.edge(1, 20'000));
    set_lengths(c.problem, std::move(lengths));
  });
  corners.add("one long sequence", [](CompressCase& c) {
    c.problem.batch = c.problem.heads = 1;
    c.problem.seq = 8193;
    c.problem.head_dim = 128;
    c.rows = rows_of_long_cases;
  });
  corners.add("sums of more than a hundred thousand products", [](CompressCase& c) {
    c.problem.batch = 1;
    c.problem.heads = 1;
    c.problem.seq = 8192;
    c.problem.head_dim = 256;
    c.profile = "all_positive";
    c.rows = rows_of_long_cases;
  });
}

}  // namespace

std::vector<CompressCase> corner_cases(std::uint64_t seed) {
  Corners corners(seed);
  add_extents(corners);
  add_disputed(corners);
  add_lengths(corners);
  add_many(corners);
  return corners.take();
}

std::vector<CompressCase> lattice_cases(std::uint64_t seed) {
  std::vector<CompressCase> cases;
  const auto add = [&](Track track, DType dtype, const Op::Problem& problem) {
    CompressCase c{.problem = problem, .track = track};
    c.problem.dtype = dtype;
    c.seed = seed + cases.size();
    cases.push_back(std::move(c));
  };
  for (const Track track : {Track::a1, Track::a2})
    for (const DType dtype : {DType::fp16, DType::bf16}) {
      for (const auto& [size, stride] :
           {std::pair{32, 16}, {64, 16}, {128, 16}, {48, 32}, {80, 32}, {128, 112}}) {
        Op::Problem p{
            .heads = 3, .head_dim = 48, .compress_block_size = size, .compress_stride = stride};
        set_lengths(p, {size + 5 * stride + 7, size - 1, 0, size, size + 2 * stride});
        add(track, dtype, p);
      }
      Op::Problem long_sums{
          .heads = 2, .head_dim = 192, .compress_block_size = 32, .compress_stride = 16};
      set_lengths(long_sums, {0, 1500, 20, 900});
      add(track, dtype, long_sums);
    }
  return cases;
}

}  // namespace assay::conformance::compress
