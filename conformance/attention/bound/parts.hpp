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

/// Rows as the engine hands them out become parts of expectations.
namespace assay::conformance::attention {

/// One output tensor of which parts are made.
class Tensor {
 public:
  /// Refers to the judged rows.
  Tensor(const Dense& dense, const Arithmetic& arithmetic, Part part, const spec::Extents& extents,
         const std::vector<std::int64_t>& judged, bool is_biasable);

  /// An expectation without rows, to be given back: extents of many sequences are long.
  Expectation empty();
  void give_back(Expectation e);

  Part part;
  Expectation frame;
  const std::vector<std::int64_t>& judged;
  engine::Output output;         ///< how all its elements are written
  std::vector<double> channels;  ///< (b, kv): effective channels of the rows that are summed
  bool deviates = true;          ///< whether errors of a row deviate by themselves

 private:
  std::mutex mutex_;
  std::vector<Expectation> spare_;
};
/// They do not move.
using Tensors = std::deque<Tensor>;

/// All that the passes share.
struct Pass {
  const Dense& dense;
  const Arithmetic& arithmetic;
  const AllRowTerms& rows;
  const Floor& floor;
  const CancellingRows& cancelling;
  const TakePart& take;
};

/// Entries [first, first + rows.size()) of the judged rows of a tensor: those of one key head, by
/// their places among the head's rows.
struct Slice {
  std::int64_t first = 0;
  std::vector<std::int64_t> rows;
};

/// Takes what the engine makes of one key head.
class HeadSink : public engine::Sink {
 public:
  /// Refers to all of them. The last tensor of the keys is dv.
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
