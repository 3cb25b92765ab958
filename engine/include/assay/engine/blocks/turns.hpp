#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace assay::engine {

/// Lets blocks of rows add to each block of keys in their order, whatever thread has them: so sums
/// over rows have the same bits for any number of threads. Row block r takes its turns at all key
/// blocks, from the first to the last, and waits at each for row block r - 1 alone.
class Turns {
 public:
  explicit Turns(std::int64_t key_blocks) : next_(static_cast<std::size_t>(key_blocks)) {}

  std::int64_t key_blocks() const { return static_cast<std::int64_t>(next_.size()); }

  /// Returns when row blocks before this one have had their turns at the key block.
  void wait(std::int64_t key_block, std::int64_t row_block);
  /// Ends the turn of this row block.
  void pass(std::int64_t key_block, std::int64_t row_block);

 private:
  std::vector<std::atomic<std::int64_t>> next_;
};

/// The turns of one row block. What it does not take it passes on when it is destroyed, so that
/// nobody waits for a block that has failed.
class TurnsOfBlock {
 public:
  TurnsOfBlock(Turns& turns, std::int64_t row_block) : turns_(turns), row_block_(row_block) {}
  TurnsOfBlock(const TurnsOfBlock&) = delete;
  TurnsOfBlock& operator=(const TurnsOfBlock&) = delete;
  ~TurnsOfBlock() {
    while (taken_ < turns_.key_blocks()) take([] {});
  }

  /// Calls add() when it is this block's turn at the next key block.
  template <class Add>
  void take(const Add& add) {
    turns_.wait(taken_, row_block_);
    struct Pass {
      TurnsOfBlock& of;
      ~Pass() { of.turns_.pass(of.taken_++, of.row_block_); }
    } pass{*this};
    add();
  }

 private:
  Turns& turns_;
  std::int64_t row_block_, taken_ = 0;
};

}  // namespace assay::engine
