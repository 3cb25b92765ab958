#include "flash_attention_score_grad/size.hpp"

#include <algorithm>
#include <iterator>

namespace assay::mutants {
namespace {

using spec::MaskShape;

constexpr std::int64_t of_16_bits = 0xffff, of_20_bits = 0xfffff, of_24_bits = 0xffffff,
                       of_31_bits = 0x7fffffff;

bool is_masked(const Op::Problem& p) { return p.atten_mask != MaskShape::absent; }
bool is_causal(const Op::Problem& p) {
  return is_masked(p) && (p.sparse_mode == 2 || p.sparse_mode == 3);
}

/// Fault: for the uncommon head sizes 112 and 160, dq omits the last channels.
struct HeadSize : Kernel {
  static bool concerns(const Op::Problem& p) { return p.head_dim == 112 || p.head_dim == 160; }
  void adjust(AttentionWork& w) const override {
    if (!concerns(w.problem)) return;
    visit_rows(w.dq.extents, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
      std::ranges::fill(w.dq.row(b, n, s).subspan(96), 0.0f);
    });
  }
};

/// Fault: omits the last head of a group of nine query heads.
struct GroupOfNine : Kernel {
  static bool concerns(const Op::Problem& p) { return p.group() == 9; }
  void add_pair(AttentionWork& w, Query q, std::int64_t j, const RowState& row) const override {
    if (!concerns(w.problem) || q.n % 9 != 8) Kernel::add_pair(w, q, j, row);
  }
};

/// Fault: omits the last of six sequences.
struct SixSequences : Kernel {
  static bool concerns(const Op::Problem& p) { return p.batch == 6; }
  std::int64_t batches(const AttentionWork& w) const override {
    return concerns(w.problem) ? 5 : Kernel::batches(w);
  }
};

/// Fault: a window of a whole number of tiles is one key too short.
struct WindowOfTiles : Kernel {
  static bool concerns(const Op::Problem& p) {
    return is_masked(p) && (p.sparse_mode == 0 || p.sparse_mode == 4) && p.pre_tokens > 0 &&
           p.pre_tokens % 128 == 0 && p.pre_tokens < std::min(p.seq_q, p.seq_kv);
  }
  AttentionWork load(const Op::Problem& p, const Op::Inputs& inputs) const override {
    AttentionWork w = Kernel::load(p, inputs);
    if (concerns(p)) --w.problem.pre_tokens;
    return w;
  }
};

/// Fault: a prefix of a whole number of tiles is one key too long.
struct PrefixOfTiles : Kernel {
  static bool concerns(const Op::Problem& p) {
    return is_masked(p) && p.sparse_mode == 6 && std::ranges::any_of(p.prefix, [&](std::int64_t n) {
             return n > 0 && n % 64 == 0 && n < p.seq_kv && p.seq_q > 64;
           });
  }
  std::int64_t prefix(const AttentionWork& w, std::int64_t b) const override {
    const std::int64_t right = Kernel::prefix(w, b);
    return right > 0 && right % 64 == 0 ? right + 1 : right;
  }
};

/// Fault: omits the fourth key tile of the second key head.
struct UsualShape : Kernel {
  static bool concerns(const Op::Problem& p) {
    return p.group() > 1 && p.heads_kv > 1 && p.head_dim == 128 && is_causal(p) && p.seq_q >= 512;
  }
  void add_pair(AttentionWork& w, Query q, std::int64_t j, const RowState& row) const override {
    if (concerns(w.problem) && kv_head(w, q.n) == 1 && j >= 384 && j < 512) return;
    Kernel::add_pair(w, q, j, row);
  }
};

/// Fault: computes the token index in 16 bits when it writes dv.
struct TokensIn16Bits : Kernel {
  static bool concerns(const Op::Problem& p) { return key_extents(p).tokens() > of_16_bits; }
  void adjust(AttentionWork& w) const override {
    const spec::Extents& e = w.dv.extents;
    visit_rows(e, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
      if (e.start(b) + s > of_16_bits) std::ranges::fill(w.dv.row(b, n, s), 0.0f);
    });
  }
};

/// Fault: computes the index of a drop bit (bit of the dropout mask) in 20 bits.
struct DropBitsIn20Bits : Kernel {
  static bool concerns(const Op::Problem& p) {
    return p.has_dropout() && spec::score_count(p) > of_20_bits;
  }
  std::int64_t drop_bit(const AttentionWork& w, Query q, std::int64_t j) const override {
    return Kernel::drop_bit(w, q, j) & of_20_bits;
  }
};

/// Fault: rounds the index of a score to float before it reads the drop bit.
struct ScoresInFloat : Kernel {
  static bool concerns(const Op::Problem& p) {
    return p.has_dropout() && spec::score_count(p) > of_24_bits;
  }
  std::int64_t drop_bit(const AttentionWork& w, Query q, std::int64_t j) const override {
    return static_cast<std::int64_t>(static_cast<float>(Kernel::drop_bit(w, q, j)));
  }
};

/// Fault: with head_dim 128, dP of the second key tile omits the channels of value after the last
/// full block of 16.
struct ValueOfNoWholeBlocks : Kernel {
  static bool concerns(const Op::Problem& p) {
    return p.head_dim == 128 && p.head_dim_v % 16 != 0 && p.seq_kv > 80;
  }
  float dprobability(const AttentionWork& w, Query q, std::int64_t j) const override {
    if (!concerns(w.problem) || j < 80) return Kernel::dprobability(w, q, j);
    const auto whole = static_cast<std::size_t>(w.problem.head_dim_v / 16 * 16);
    return dot(w.dy.row(q.b, q.n, q.i).first(whole),
               w.value.row(key_position(w, q, j)).first(whole)) *
           drop_factor(w, q, j);
  }
};

/// Fault: omits one pair of one row if a head has at least 1,024 queries and keys.
struct OnePair : Kernel {
  static bool concerns(const Op::Problem& p) {
    return p.seq_q >= 1024 && p.seq_kv >= 1024 && !is_masked(p);
  }
  void add_pair(AttentionWork& w, Query q, std::int64_t j, const RowState& row) const override {
    const bool lost = q.n == 0 && q.i == w.problem.seq_q * 2 / 3 && j == w.problem.seq_kv / 3;
    if (lost && concerns(w.problem)) return;
    Kernel::add_pair(w, q, j, row);
  }
};

/// Fault: doubles one of every 100,003 elements.
struct OneInHundredThousand : Kernel {
  static constexpr std::int64_t seldom = 100'003;
  static bool concerns(const Op::Problem& p) {
    return query_extents(p).rows() * p.head_dim > 2 * seldom;
  }
  void adjust(AttentionWork& w) const override {
    auto& values = w.dq.values;
    for (std::size_t k = seldom / 2; k < values.size(); k += seldom) values[k] *= 2;
  }
};

/// Fault: computes the index of a drop bit (bit of the dropout mask) in 31 bits.
struct DropBitsIn31Bits : Kernel {
  static bool concerns(const Op::Problem& p) {
    return p.has_dropout() && spec::score_count(p) > of_31_bits;
  }
  std::int64_t drop_bit(const AttentionWork& w, Query q, std::int64_t j) const override {
    return Kernel::drop_bit(w, q, j) & of_31_bits;
  }
};

/// Fault: computes the index of a mask element in 31 bits.
struct MaskElementsIn31Bits : Kernel {
  static bool concerns(const Op::Problem& p) {
    return is_written_out(p.atten_mask) && p.seq_q * p.seq_kv > of_31_bits;
  }
  bool excluded(const AttentionWork& w, Query q, std::int64_t j) const override {
    const std::int64_t element = (q.i * w.problem.seq_kv + j) & of_31_bits;
    return Kernel::excluded(w, {q.b, q.n, element / w.problem.seq_kv}, element % w.problem.seq_kv);
  }
};

template <class Bug>
SizeMutant mutant(const std::string& name, std::string bug) {
  return {injected<Bug>(name, std::move(bug)), Bug::concerns};
}

}  // namespace

std::vector<SizeMutant> size_mutants() {
  std::vector<SizeMutant> all = {
      mutant<HeadSize>("head_size_between", "dq omits channels of head sizes 112 and 160"),
      mutant<GroupOfNine>("group_of_nine", "if a group has nine heads, the last one is omitted"),
      mutant<SixSequences>("six_sequences", "if there are six sequences, the last one is omitted"),
      mutant<WindowOfTiles>("window_of_tiles", "a window of whole tiles is one key too short"),
      mutant<PrefixOfTiles>("prefix_of_tiles", "a prefix of whole tiles is one key too long"),
      mutant<UsualShape>(
          "usual_shape",
          "if heads are long, causal, grouped and of size 128, one key tile is omitted"),
      mutant<TokensIn16Bits>("tokens_in_16_bits", "dv of tokens from 65536 on is 0"),
      mutant<DropBitsIn20Bits>("drop_bits_in_20_bits", "drop bits are indexed with 20 bits"),
      mutant<ScoresInFloat>("scores_in_float", "the index of a score is rounded to float"),
      mutant<ValueOfNoWholeBlocks>("value_of_no_whole_blocks",
                                   "the last channels of a misaligned value do not enter dP"),
      mutant<OnePair>("one_pair", "one pair of one long row is lost"),
      mutant<DropBitsIn31Bits>("drop_bits_in_31_bits", "drop bits are indexed with 31 bits"),
      mutant<MaskElementsIn31Bits>("mask_elements_in_31_bits",
                                   "elements of the mask are indexed with 31 bits"),
      mutant<OneInHundredThousand>("one_in_100000", "one of 100,003 elements of dq is doubled"),
  };
  std::ranges::move(meeting_mutants(), std::back_inserter(all));
  return all;
}

}  // namespace assay::mutants
