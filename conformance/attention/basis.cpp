#include "attention/basis.hpp"

#include <utility>

#include "attention/bound/row_terms.hpp"
#include "attention/tiles/tiles.hpp"
#include "attention/variant/variant_pattern.hpp"

namespace assay::conformance {

AttentionBasis::AttentionBasis(attention::Dense dense, attention::JudgedRows judged,
                               const Arithmetic& arithmetic, std::uint64_t seed)
    : dense_(std::move(dense)), judged_(std::move(judged)), arithmetic_(arithmetic), seed_(seed) {}

const attention::AllRowTerms& AttentionBasis::row_terms() {
  if (row_terms_) return *row_terms_;
  // The statistics and the row term belong to all keys, also if a part is judged.
  const auto pattern = std::exchange(dense_.key_pattern, attention::whole_pattern_of(dense_));
  row_terms_ = attention::row_terms(dense_, arithmetic_);
  dense_.key_pattern = pattern;
  return *row_terms_;
}

std::vector<Expectation> AttentionBasis::expectations() {
  return attention::expectations(dense_, arithmetic_, row_terms(), judged_);
}

std::vector<Expectation> AttentionBasis::frames() {
  row_terms();  // consistent() reads the row terms
  return attention::frames(dense_, arithmetic_, judged_);
}

void AttentionBasis::each_part(const TakePart& take) {
  attention::each_part(dense_, arithmetic_, row_terms(), judged_, take);
}

std::vector<TileSums> AttentionBasis::tile_sums(bool averages) {
  const auto terms = [this]() -> const attention::AllRowTerms& { return row_terms(); };
  return tiles::tile_sums_with(judged_, dense_, arithmetic_, terms, seed_, averages);
}

}  // namespace assay::conformance
