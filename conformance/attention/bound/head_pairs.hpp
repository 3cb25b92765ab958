#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/engine/blocks/index_set.hpp"
#include "attention/bound/row_terms.hpp"
#include "attention/dense.hpp"
#include "attention/formula/head.hpp"

/// The interface through which the engine reads the heads of a case.
namespace assay::conformance::attention {

/// One key head: its keys, and the queries of its group, ordered by head (n - kv * group) and then
/// by position. Keeps a reference to `dense`.
class HeadPairs : public engine::IndexSet, public attention::PairSides {
 public:
  HeadPairs(const Dense& dense, const Arithmetic& arithmetic, const AllRowTerms& terms,
            const spec::RowPosition& key_head, std::vector<std::int64_t> queries,
            std::vector<std::int64_t> keys);

  const attention::Head& head() const { return head_; }

  engine::Range reach(std::int64_t row) const override;
  void counts(std::int64_t row, std::int64_t first, std::span<double> times) const override;
  void fill_kappa(std::int64_t row, std::int64_t first, std::span<double> kappa) const override;
  void fill_bias(std::int64_t row, std::int64_t first, std::span<double> bias) const override;

 private:
  spec::RowPosition query(std::int64_t row) const;
  void give_rows(const AllRowTerms& terms);
  void give_operands();
  void give_norms();

  const Dense& dense_;
  std::int64_t b_, kv_;
  std::vector<std::int64_t> queries_, keys_;
  std::vector<double> chosen_query_, chosen_dy_, chosen_key_, chosen_value_;
  std::vector<std::uint8_t> live_;
  attention::Head head_;
};

}  // namespace assay::conformance::attention
