#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "assay/conformance/operators/sparse_flash_attention_grad.hpp"
#include "attention/plan/choices.hpp"
#include "plan/drawn_cases.hpp"
#include "plan/factors.hpp"

/// The random cases of SparseFlashAttentionGrad, and the factors (varied properties) from which
/// they are made.
namespace assay::conformance::sparse_flash {

using Op = spec::SparseFlashAttentionGrad;

/// Classes of the number of query heads: 1; 2 or 4; 8 to 32; 64 or 128.
enum class Heads : std::uint8_t { one, few, some, many };
/// Classes of the number of entries of a list: 1024; 2048; fewer. No documentation page allows
/// fewer entries, but the vendor's tests use them.
enum class Entries : std::uint8_t { usual, twice, few };
/// Classes of the number of blocks of the first sequence. fewer: fewer than a list has entries;
/// equal: the same number; more: a list contains only some of the blocks.
enum class Blocks : std::uint8_t { fewer, equal, more };
/// Classes of the number of queries of the first sequence: one; fewer than keys; equal to the
/// number of keys; more than keys.
enum class Queries : std::uint8_t { one, fewer, equal, more };
/// Classes of sequences: one sequence; several with equal lengths; several with different lengths.
enum class Sequences : std::uint8_t { one, alike, unequal };

/// One value for each factor (property that the test plan varies).
struct Chosen {
  spec::Product product;
  spec::DType dtype;
  spec::Layout layout;
  std::int64_t sparse_mode;
  Heads heads;
  std::int64_t rope;
  spec::SparseValue value;
  std::int64_t block_size;
  Entries entries;
  Blocks blocks;
  std::string_view lists;
  Queries queries;
  Sequences sequences;
  spec::Striding inputs;
  std::string_view profile;
  attention::Scale scale;
};

const Factors<Op, Chosen>& factors();
const ChoiceSpace& choice_space();
const Drawn<Op, Chosen>& drawn();

/// Returns exact cases (every correct kernel computes the same bits) that together contain every
/// pair of factor values.
std::vector<Case<Op>> exact_cases(const SamplingPlan& plan);

/// Returns legal calls that together cover every condition of every requirement.
std::vector<Case<Op>> legal_calls();

}  // namespace assay::conformance::sparse_flash
