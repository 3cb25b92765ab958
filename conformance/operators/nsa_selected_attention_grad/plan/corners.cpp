#include <functional>
#include <string>
#include <utility>

#include "operators/flash_attention_score_grad/plan/sampling.hpp"
#include "operators/nsa_selected_attention_grad/plan/draws.hpp"
#include "plan/draws.hpp"

namespace assay::conformance::selected {
namespace {

using spec::DType;
using spec::SelectedMask;

/// Collects variations of one case; types and modes take turns.
class Corners {
 public:
  using Change = std::function<void(SelectedCase& c)>;

  explicit Corners(std::uint64_t seed) : seed_(seed) {}

  void add(const std::string& note, const Change& change) {
    SelectedCase c;
    c.problem = {.dtype = cases_.size() % 2 == 0 ? DType::bf16 : DType::fp16,
                 .batch = 2,
                 .heads_q = 4,
                 .heads_kv = 2,
                 .seq_q = 9,
                 .seq_kv = 64,
                 .head_dim = 192,
                 .head_dim_v = 128,
                 .scale_value = flash::ordinary_scale(192)};
    c.seed = seed_ + cases_.size();
    c.note = note;
    change(c);
    cases_.push_back(std::move(c));
  }
  std::vector<SelectedCase> take() { return std::move(cases_); }

 private:
  std::uint64_t seed_;
  std::vector<SelectedCase> cases_;
};

void set_mask(Op::Problem& p, std::int64_t sparse_mode) {
  p.sparse_mode = sparse_mode;
  p.atten_mask = SelectedMask::compressed;
}

void set_dims(Op::Problem& p, std::int64_t head_dim, std::int64_t head_dim_v) {
  p.head_dim = head_dim;
  p.head_dim_v = head_dim_v;
  p.scale_value = flash::ordinary_scale(head_dim);
}

/// `count` blocks of `size` keys; as many keys as are listed, and `more` blocks.
void set_blocks(Op::Problem& p, std::int64_t size, std::int64_t count, std::int64_t more) {
  p.selected_block_size = size;
  p.selected_block_count = count;
  p.seq_kv = size * (count + more);
}

void set_single_head(Op::Problem& p, std::int64_t seq_q) {
  p.batch = p.heads_q = p.heads_kv = 1;
  p.seq_q = seq_q;
}

void add_extents(Corners& corners) {
  corners.add("the smallest problem", [](SelectedCase& c) {
    set_single_head(c.problem, 1);
    set_blocks(c.problem, 16, 1, 0);
    set_dims(c.problem, 128, 128);
  });
  for (const std::int64_t heads_kv : {4, 128})
    corners.add("128 heads, the most there are", [=](SelectedCase& c) {
      c.problem.batch = 1;
      c.problem.heads_q = 128;
      c.problem.heads_kv = heads_kv;
      c.problem.seq_q = 2;
      set_blocks(c.problem, 16, 2, 1);
    });
  for (const std::int64_t size : {16, 32, 48, 64, 80, 96, 112, 128})
    corners.add("block size", [=](SelectedCase& c) {
      set_single_head(c.problem, 5);
      set_blocks(c.problem, size, 2, 1);
    });
  for (const std::int64_t count : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33})
    corners.add("number of blocks", [=](SelectedCase& c) {
      set_single_head(c.problem, 5);
      set_blocks(c.problem, 16, count, 2);
    });
  corners.add("the longest list: 4096 keys", [](SelectedCase& c) {
    set_single_head(c.problem, 2);
    set_blocks(c.problem, 128, 32, 0);
    c.rows = 16;
  });
  for (const auto& [head_dim, head_dim_v] :
       {std::pair{192, 192}, std::pair{192, 128}, std::pair{128, 128}, std::pair{128, 192}})
    corners.add("head sizes", [=](SelectedCase& c) { set_dims(c.problem, head_dim, head_dim_v); });
}

/// Up to 16 query heads of a key head and a value of 128 channels one kernel of the device takes,
/// beyond it another.
void add_kernel_boundary(Corners& corners) {
  for (const std::int64_t group : {16, 17})
    for (const std::int64_t head_dim_v : {128, 192})
      corners.add("16 blocks of 64 keys, 16 and 17 heads, value of 128 and 192 channels",
                  [=](SelectedCase& c) {
                    c.problem.batch = 1;
                    c.problem.heads_q = group;
                    c.problem.heads_kv = 1;
                    c.problem.seq_q = 2;
                    set_blocks(c.problem, 64, 16, 1);
                    set_dims(c.problem, 192, head_dim_v);
                    c.patterns.lists = "anchored";
                    c.rows = 2;
                  });
}

void add_masks(Corners& corners) {
  for (const char* lists : {"causal", "shuffled", "diagonal_first", "identity", "duplicates"})
    corners.add("queries beside the edges of blocks and of the listed keys", [=](SelectedCase& c) {
      set_single_head(c.problem, 66);
      set_blocks(c.problem, 16, 4, 3);
      set_mask(c.problem, 2);
      c.patterns.lists = lists;
    });
  corners.add("the query's own block, listed more than once", [](SelectedCase& c) {
    set_single_head(c.problem, 34);
    set_blocks(c.problem, 16, 3, 0);
    set_mask(c.problem, 2);
    c.patterns.lists = "all_equal";
  });
  for (const std::int64_t size : {32, 112})
    corners.add("queries beside a block's edge", [=](SelectedCase& c) {
      set_single_head(c.problem, size + 2);
      set_blocks(c.problem, size, 2, 1);
      set_mask(c.problem, 2);
    });
  corners.add("one query sees one key", [](SelectedCase& c) {
    c.problem.seq_q = 1;
    set_mask(c.problem, 2);
  });
  corners.add("more queries than keys", [](SelectedCase& c) {
    set_single_head(c.problem, 75);
    set_blocks(c.problem, 16, 3, 0);
    set_mask(c.problem, 2);
  });
  corners.add("a mask of zeros", [](SelectedCase& c) { set_mask(c.problem, 0); });
  corners.add("a mask of uint8", [](SelectedCase& c) {
    set_mask(c.problem, 2);
    c.problem.mask_dtype = DType::uint8;
  });
  corners.add("the mask is 2048 wide, sequences need not be", [](SelectedCase& c) {
    set_single_head(c.problem, 2100);
    set_blocks(c.problem, 16, 2, 131);
    set_mask(c.problem, 2);
    c.patterns.lists = "anchored";
    c.rows = 24;
  });
  corners.add("sparse mode 2 without a mask: what it means is open", [](SelectedCase& c) {
    c.problem.sparse_mode = 2;
    c.track = Track::phase1;
  });
}

void add_lists(Corners& corners) {
  for (const char* lists : {"duplicates", "all_equal"})
    for (const std::int64_t count : {3, 32})
      corners.add("blocks that are listed more than once", [=](SelectedCase& c) {
        set_single_head(c.problem, 7);
        set_blocks(c.problem, 16, count, 1);
        c.patterns.lists = lists;
      });
  corners.add("most keys are listed by nobody", [](SelectedCase& c) {
    c.problem.batch = 1;
    set_blocks(c.problem, 32, 2, 62);
  });
  for (const char* lists : {"shared", "last_block", "per_head"})
    corners.add("some keys are listed by every query", [=](SelectedCase& c) {
      set_blocks(c.problem, 16, 2, 6);
      c.patterns.lists = lists;
    });
}

void add_sequences(Corners& corners) {
  corners.add("70 sequences, short ones in the middle", [](SelectedCase& c) {
    std::vector<std::int64_t> of_queries, of_keys;
    for (std::int64_t b = 0; b < 70; ++b) {
      of_queries.push_back(b > 20 && b < 50 ? 1 : 1 + b % 5);
      of_keys.push_back(b > 20 && b < 50 ? 16 : 16 * (1 + b % 3));
    }
    c.problem.heads_q = 2;
    c.problem.heads_kv = 1;
    set_blocks(c.problem, 16, 1, 0);
    set_lengths(c.problem, of_queries, of_keys);
  });
  corners.add("a short sequence in front of longer ones", [](SelectedCase& c) {
    c.problem.heads_q = 2;
    c.problem.heads_kv = 1;
    set_blocks(c.problem, 16, 2, 0);
    set_lengths(c.problem, {1, 6, 3}, {32, 64, 48});
  });
  corners.add("sequences of unequal length", [](SelectedCase& c) {
    set_blocks(c.problem, 32, 2, 0);
    set_lengths(c.problem, {1, 33, 8, 31, 2}, {64, 64, 160, 96, 64});
    set_mask(c.problem, 2);
  });
}

/// More tokens than 16 bits count, in so many sequences that a row of each is many rows.
void add_tokens(Corners& corners) {
  corners.add("more tokens than 16 bits count", [](SelectedCase& c) {
    Draws draws(c.seed);
    c.problem.heads_q = c.problem.heads_kv = 1;
    c.problem.batch = draws.integer(1'200, 2'000);
    c.problem.seq_q = 65'536 / c.problem.batch + draws.integer(1, 3);
    set_blocks(c.problem, 16, 1, 0);
    set_dims(c.problem, 128, 128);
    c.rows = 1;
  });
}

void add_scales_and_overflow(Corners& corners) {
  for (const double scale : {0.0, 1.0, -1.0, 0x1p-20})
    corners.add("scale_value", [=](SelectedCase& c) { c.problem.scale_value = scale; });
  corners.add("dS of one row overflows in fp16", [](SelectedCase& c) {
    c.problem.dtype = DType::fp16;
    set_single_head(c.problem, 320);
    set_blocks(c.problem, 16, 1, 127);
    c.profile = "overflow_fp16";
  });
}

/// Extents that no tensor here can have, but a call.
void add_calls(Corners& corners) {
  constexpr std::int64_t longest = 128 * 1024, sequences = 16;
  corners.add("the longest sequences, and the most tokens", [](SelectedCase& c) {
    c.track = Track::phase1;
    c.problem.batch = sequences;
    c.problem.seq_q = c.problem.seq_kv = longest;
  });
  corners.add("the most sequences that have as many keys as are listed", [](SelectedCase& c) {
    c.track = Track::phase1;
    c.problem.batch = longest;
    c.problem.seq_q = 16;
    set_blocks(c.problem, 16, 1, 0);
  });
}

}  // namespace

std::vector<SelectedCase> corner_cases(std::uint64_t seed) {
  Corners corners(seed);
  add_extents(corners);
  add_kernel_boundary(corners);
  add_masks(corners);
  add_lists(corners);
  add_sequences(corners);
  add_tokens(corners);
  add_scales_and_overflow(corners);
  add_calls(corners);
  return corners.take();
}

std::vector<SelectedCase> declaration_cases(std::uint64_t seed) {
  Corners corners(seed);
  corners.add("statistics that are not those of the data: given ones are taken as they are",
              [](SelectedCase& c) { c.profile = "foreign_statistics"; });
  return corners.take();
}

}  // namespace assay::conformance::selected
