#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace assay::engine {

/// Makes row blocks add to each key block in a fixed order, so that sums over rows have the same
/// bits for any number of threads. Row block r adds to all key blocks, from the first to the last.
/// Before each addition it waits only for row block r - 1.
class Turns {
 public:
  explicit Turns(std::int64_t key_blocks) : next_(static_cast<std::size_t>(key_blocks)) {}

  std::int64_t key_blocks() const { return static_cast<std::int64_t>(next_.size()); }

  /// Waits until all row blocks before `row_block` have added to the key block.
  void wait(std::int64_t key_block, std::int64_t row_block);
  /// Reports that this row block has added to the key block, so that the next row block may.
  void pass(std::int64_t key_block, std::int64_t row_block);

 private:
  std::vector<std::atomic<std::int64_t>> next_;
};

/// Orders the additions of one row block. If the row block fails, the destructor reports its
/// remaining key blocks as done, so that no thread waits for it.
class TurnsOfBlock {
 public:
  TurnsOfBlock(Turns& turns, std::int64_t row_block) : turns_(turns), row_block_(row_block) {}
  TurnsOfBlock(const TurnsOfBlock&) = delete;
  TurnsOfBlock& operator=(const TurnsOfBlock&) = delete;
  ~TurnsOfBlock() {
    while (taken_ < turns_.key_blocks()) take([] {});
  }

  /// Waits until this row block may add to its next key block, then calls add().
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
