#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "attention/bound/head_index.hpp"
#include "attention/bound/row_terms.hpp"
#include "attention/dense.hpp"
#include "attention/formula/head.hpp"

/// Gives the engine access to the heads of a case.
namespace assay::conformance::attention {

/// One key head: its keys, and the queries of all query heads that use it. Queries are ordered by
/// head (n - kv * group), then by position. Keeps a reference to `dense`.
class HeadPairs : public HeadIndex {
 public:
  HeadPairs(const Dense& dense, const Arithmetic& arithmetic, const AllRowTerms& terms,
            const spec::RowPosition& key_head, std::vector<std::int64_t> queries,
            std::vector<std::int64_t> keys);

  const attention::Head& head() const { return head_; }

 private:
  void give_rows(const AllRowTerms& terms);
  void give_operands();
  void give_norms();

  HeadRows query_, dy_, key_, value_;
  attention::Head head_;
};

}  // namespace assay::conformance::attention
