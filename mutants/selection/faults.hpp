#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "injecting.hpp"
#include "misread.hpp"
#include "selection/kernel.hpp"

namespace assay::mutants::selection {

/// Faults in block lists, mask, scale and strides. A kernel of NsaSelectedAttention or of its
/// gradient can have them.
template <class Op, class Kernel>
struct Faults {
  using Work = typename Kernel::Work;

  /// Returns the block that contains the query's own position.
  static std::int64_t own_block(const Work& w, Query q) {
    return q.i / w.problem.selected_block_size;
  }

  struct DuplicatesOnce : Kernel {
    bool sees(const Work& w, const Pair& pair) const override {
      const auto list = w.lists.row(pair.q.b, this->list_head(w, pair.q.n), pair.q.i);
      const auto own = list.begin() + pair.slot;
      return Kernel::sees(w, pair) && std::find(list.begin(), own, *own) == own;
    }
  };
  struct LastSlotDropped : Kernel {
    std::int64_t slots(const Work& w) const override {
      return std::max<std::int64_t>(1, w.problem.selected_block_count - 1);
    }
  };
  struct SecondHalfLeftOut : Kernel {
    std::int64_t slots(const Work& w) const override {
      return (w.problem.selected_block_count + 1) / 2;
    }
  };
  struct LastKeyOfBlockDropped : Kernel {
    std::int64_t keys_of_block(const Work& w) const override {
      return w.problem.selected_block_size - 1;
    }
  };
  struct BlocksOf64 : Kernel {
    std::int64_t keys_of_block(const Work& w) const override {
      return std::min<std::int64_t>(64, w.problem.selected_block_size);
    }
  };
  struct BlocksIn8Bits : Kernel {
    std::int64_t block(const Work& w, Query q, std::int64_t slot) const override {
      return Kernel::block(w, q, slot) & 0xff;
    }
  };
  struct NextBlock : Kernel {
    std::int64_t block(const Work& w, Query q, std::int64_t slot) const override {
      const std::int64_t blocks = w.problem.length_kv(q.b) / w.problem.selected_block_size;
      return std::min(Kernel::block(w, q, slot) + 1, blocks - 1);
    }
  };
  /// Fault: counts block numbers from the first key of the packed tensor instead of the first key
  /// of the sequence.
  struct BlocksOverAllTokens : Kernel {
    spec::RowPosition key_row(const Work& w, const Pair& pair) const override {
      const spec::Extents& keys = w.key.extents;
      const std::int64_t token = this->position(w, pair);
      std::int64_t b = 0;
      while (token >= keys.start(b + 1)) ++b;
      return {b, this->kv_head(w, pair.q.n), token - keys.start(b)};
    }
  };
  struct ListsOfFirstHead : Kernel {
    std::int64_t list_head(const Work&, std::int64_t) const override { return 0; }
  };
  struct ListOfFirstToken : Kernel {
    std::int64_t block(const Work& w, Query q, std::int64_t slot) const override {
      return Kernel::block(w, {q.b, q.n, 0}, slot);
    }
  };
  struct HeadsInterleaved : Kernel {
    std::int64_t kv_head(const Work& w, std::int64_t n) const override {
      return n % w.problem.heads_kv;
    }
  };

  struct MaskIgnored : Kernel {
    bool is_causal(const Work&) const override { return false; }
  };
  struct MaskInEveryMode : Kernel {
    bool is_causal(const Work& w) const override {
      return w.problem.atten_mask != spec::SelectedMask::absent;
    }
  };
  struct MaskBottomRight : Kernel {
    std::int64_t last_seen(const Work& w, Query q) const override {
      return q.i + w.problem.length_kv(q.b) - w.problem.length_q(q.b);
    }
  };
  struct MaskHidesDiagonal : Kernel {
    std::int64_t last_seen(const Work&, Query q) const override { return q.i - 1; }
  };
  struct MaskOneTooFar : Kernel {
    std::int64_t last_seen(const Work&, Query q) const override { return q.i + 1; }
  };
  struct PositionsOverAllTokens : Kernel {
    std::int64_t last_seen(const Work& w, Query q) const override {
      return w.query.extents.start(q.b) + q.i;
    }
  };
  /// Fault: the mask uses the index of a key in the list instead of the key's position.
  struct SlotsForPositions : Kernel {
    bool sees(const Work& w, const Pair& pair) const override {
      const std::int64_t index = pair.slot * w.problem.selected_block_size + pair.j;
      return !this->is_causal(w) || index <= this->last_seen(w, pair.q);
    }
  };
  struct DiagonalBlockDropped : Kernel {
    bool sees(const Work& w, const Pair& pair) const override {
      return !this->is_causal(w) || this->block(w, pair.q, pair.slot) < own_block(w, pair.q);
    }
  };
  struct DiagonalBlockWhole : Kernel {
    bool sees(const Work& w, const Pair& pair) const override {
      return !this->is_causal(w) || this->block(w, pair.q, pair.slot) <= own_block(w, pair.q);
    }
  };

  struct ScaleFromHeadDim : Kernel {
    float scale(const Work& w) const override {
      return 1.0f / std::sqrt(static_cast<float>(w.problem.head_dim));
    }
  };
  struct ScaleOnePercentMore : Kernel {
    float scale(const Work& w) const override { return 1.01f * Kernel::scale(w); }
  };

  /// Returns the mutants with a fault in block lists, mask or scale, and the mutants with a fault
  /// in strides.
  static std::vector<MutantOf<Op>> in_numbers() {
    std::vector<MutantOf<Op>> all;
    const auto inject = injector(all);
    inject.template operator()<DuplicatesOnce>(
        "duplicates_once", "a block that is listed twice counts only once", ascend_like);
    inject.template operator()<LastSlotDropped>("last_slot_dropped",
                                                "the last entry of a list is omitted");
    inject.template operator()<SecondHalfLeftOut>("second_half_left_out",
                                                  "the second half of a list is omitted");
    inject.template operator()<LastKeyOfBlockDropped>(
        "last_key_of_block_dropped", "the last key of a block is omitted", ascend_like);
    inject.template operator()<BlocksOf64>("blocks_of_64",
                                           "keys of a block after the first 64 are ignored");
    inject.template operator()<BlocksIn8Bits>("blocks_in_8_bits",
                                              "only 8 bits of a block number are read");
    inject.template operator()<NextBlock>("next_block", "reads the block after the listed one");
    inject.template operator()<BlocksOverAllTokens>(
        "blocks_over_all_tokens", "block numbers are counted from the first key of all sequences");
    inject.template operator()<ListsOfFirstHead>("lists_of_first_head",
                                                 "all heads use the lists of head 0", ascend_like);
    inject.template operator()<ListOfFirstToken>(
        "list_of_first_token", "all tokens of a sequence use the list of its first token");
    inject.template operator()<HeadsInterleaved>("heads_interleaved",
                                                 "query head n uses key head n mod N2");
    inject.template operator()<MaskIgnored>("mask_ignored", "sparse mode 2 masks nothing",
                                            ascend_like);
    inject.template operator()<MaskInEveryMode>("mask_in_every_mode",
                                                "a mask is also applied in mode 0");
    inject.template operator()<MaskBottomRight>("mask_bottom_right",
                                                "the diagonal ends in the lower right corner");
    inject.template operator()<MaskHidesDiagonal>(
        "mask_hides_diagonal", "a query does not see its own position", ascend_like);
    inject.template operator()<MaskOneTooFar>("mask_one_too_far",
                                              "a query sees one key after its position");
    inject.template operator()<PositionsOverAllTokens>(
        "positions_over_all_tokens",
        "the position of a query is counted from the first token of all sequences");
    inject.template operator()<SlotsForPositions>(
        "slots_for_positions", "a key's index in the list is used as its position");
    inject.template operator()<DiagonalBlockDropped>(
        "diagonal_block_dropped", "the block that contains the query's position is omitted",
        ascend_like);
    inject.template operator()<DiagonalBlockWhole>(
        "diagonal_block_whole", "the block that contains the query's position is not masked");
    inject.template operator()<ScaleFromHeadDim>(
        "scale_from_head_dim", "the scale is 1/sqrt(head_dim), as in the formulas of the page");
    inject.template operator()<ScaleOnePercentMore>("scale_one_percent_more",
                                                    "the scale is 1 % too large", ascend_like);
    return all;
  }
  static std::vector<MutantOf<Op>> in_strides() {
    using I = typename Op::Inputs;
    std::vector<MutantOf<Op>> all;
    const auto inject = injector(all);
    inject.template operator()<ReadsWithStridesOf<Op, Kernel, &I::value, &I::key>>(
        "value_strides_of_key", "value is read with the strides of key");
    inject.template operator()<ReadsWithStridesOf<Op, Kernel, &I::key, &I::query>>(
        "key_strides_of_query", "key is read with the strides of query");
    inject.template operator()<CountsBytesIn32Bits<Op, Kernel, &I::key>>(
        "key_bytes_in_32_bits", "byte offsets in key are computed in 32 bits", ascend_like);
    return all;
  }

 private:
  static auto injector(std::vector<MutantOf<Op>>& all) {
    return [&]<class Bug>(const char* name, const char* bug, const Plan& plan = flash_like) {
      all.push_back(injected_in<Op, Bug>(name, bug, plan));
    };
  }
};

}  // namespace assay::mutants::selection
