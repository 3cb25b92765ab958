#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace assay::engine {

/// Makes the row blocks add to each key block in a fixed order, so that sums over the rows of a key
/// have the same bits for any number of threads. Row block r adds to all key blocks, from the first
/// to the last. Before each addition, row block r waits only for row block r - 1.
class Turns {
 public:
  explicit Turns(std::int64_t key_blocks) : next_(static_cast<std::size_t>(key_blocks)) {}

  std::int64_t key_blocks() const { return static_cast<std::int64_t>(next_.size()); }

  /// Waits until the key block contains the contributions of all row blocks before `row_block`.
  void wait(std::int64_t key_block, std::int64_t row_block);
  /// Reports that this row block has added its contribution to the key block, so that the next row
  /// block can add its own.
  void pass(std::int64_t key_block, std::int64_t row_block);

 private:
  std::vector<std::atomic<std::int64_t>> next_;
};

/// Orders the additions of one row block. If the computation of the row block fails, the destructor
/// reports the remaining key blocks as done. Otherwise, other threads would wait for them forever.
class TurnsOfBlock {
 public:
  TurnsOfBlock(Turns& turns, std::int64_t row_block) : turns_(turns), row_block_(row_block) {}
  TurnsOfBlock(const TurnsOfBlock&) = delete;
  TurnsOfBlock& operator=(const TurnsOfBlock&) = delete;
  ~TurnsOfBlock() {
    while (taken_ < turns_.key_blocks()) take([] {});
  }

  /// Waits until this row block may add its contribution to its next key block, then calls add().
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
