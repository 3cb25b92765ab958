#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "assay/engine/blocks/sweep.hpp"
#include "attention/bound/bound.hpp"
#include "attention/bound/cancellation.hpp"
#include "judge/tolerance.hpp"

/// Converts the rows that the engine computes into expected values and tolerances, one block of
/// rows at a time.
namespace assay::conformance::attention {

/// One output tensor. Its expected values and tolerances are computed in blocks of rows.
class Tensor {
 public:
  /// Keeps a reference to the judged rows.
  Tensor(const Dense& dense, const Arithmetic& arithmetic, Part part, const spec::Extents& extents,
         const std::vector<std::int64_t>& judged, bool is_biasable);

  /// Returns an expectation without rows. The caller returns the object with give_back(), so that
  /// its memory is reused: for many sequences this memory is large.
  Expectation empty();
  void give_back(Expectation e);

  Part part;
  Expectation frame;
  const std::vector<std::int64_t>& judged;
  engine::Output output;         ///< how the kernel writes all elements
  std::vector<double> channels;  ///< (b, kv): effective channels of the rows that are summed
  bool deviates = true;          ///< true if the errors of a row vary independently

 private:
  std::mutex mutex_;
  std::vector<Expectation> spare_;
};
/// std::deque, because a Tensor cannot be moved.
using Tensors = std::deque<Tensor>;

/// The data that all passes over the heads share.
struct Pass {
  const Dense& dense;
  const Arithmetic& arithmetic;
  const AllRowTerms& rows;
  const Floor& floor;
  const CancellingRows& cancelling;
  const TakePart& take;
};

/// The judged rows of one key head: entries [first, first + rows.size()) in a tensor's list of
/// judged rows. `rows` contains the index of each row within the head.
struct Slice {
  std::int64_t first = 0;
  std::vector<std::int64_t> rows;
};

/// Receives the rows that the engine computes for one key head.
class HeadSink : public engine::Sink {
 public:
  /// Keeps references to all arguments. The last tensor in `of_keys` is dv.
  HeadSink(const Pass& pass, const spec::RowPosition& key_head, const Slice& queries,
           const Slice& keys, Tensors& of_queries, Tensors& of_keys);

  std::unique_ptr<engine::RowSink> open(std::size_t sum, engine::Range rows) override;

 private:
  const Pass& pass_;
  std::int64_t head_;
  const Slice &queries_, &keys_;
  Tensors &of_queries_, &of_keys_;
};

}  // namespace assay::conformance::attention
