#include "attention/dropout.hpp"

#include <algorithm>

namespace assay::optimized {
namespace {

/// Expands bits to bytes: byte k of the result is 1 if bit k of `bits` is 0, and 0 otherwise.
std::uint64_t zeros_as_bytes(std::uint64_t bits) {
  constexpr std::uint64_t ones = 0x0101010101010101U;
  const std::uint64_t own_bit = bits * ones & 0x8040201008040201U;
  const std::uint64_t set = (own_bit + 0x7F * ones) >> 7 & ones;
  return set ^ ones;
}

}  // namespace

Dropout::Dropout(const spec::AttentionProblem& problem, const AttentionInputs& inputs)
    : problem_(&problem) {
  if (!problem.has_dropout()) return;
  mask_.emplace(inputs.drop_mask.value());
  keep_factor_ = 1.0F / static_cast<float>(problem.keep_prob);
  if (problem.lengths_q.empty() && problem.lengths_kv.empty()) return;
  std::int64_t bit = 0;
  for (std::int64_t b = 0; b < problem.batch; ++b) {
    first_bits_.push_back(bit);
    bit += problem.heads_q * problem.length_q(b) * problem.length_kv(b);
  }
}

std::uint64_t Dropout::byte(std::int64_t number) const {
  return static_cast<std::uint64_t>(
      mask_->tensor().bytes[static_cast<std::size_t>((*mask_)(number))]);
}

void Dropout::read_row(std::int64_t first_bit, std::int64_t count, std::uint8_t* dropped) const {
  const std::int64_t shift = first_bit % 8, last_byte = (first_bit + count - 1) / 8;
  std::int64_t next = first_bit / 8;
  std::uint64_t held = byte(next);
  for (std::int64_t j = 0; j < count; j += 8) {
    const std::uint64_t following = next < last_byte ? byte(next + 1) : 0;
    ++next;
    const std::uint64_t flags = zeros_as_bytes((held | following << 8) >> shift & 0xFFU);
    held = following;
    const std::int64_t valid = std::min<std::int64_t>(8, count - j);
    for (std::int64_t k = 0; k < valid; ++k)
      dropped[j + k] = static_cast<std::uint8_t>(flags >> (8 * k) & 1U);
  }
}

void Dropout::read(const Block& block, std::int64_t stride, std::uint8_t* dropped) const {
  const std::int64_t seq_q = problem_->length_q(block.b), seq_kv = problem_->length_kv(block.b);
  const std::int64_t sequence = first_bits_.empty()
                                    ? block.b * problem_->heads_q * seq_q * seq_kv
                                    : first_bits_[static_cast<std::size_t>(block.b)];
  const std::int64_t head = sequence + block.n * seq_q * seq_kv;
  for (std::int64_t i = 0; i < block.rows; ++i)
    read_row(head + (block.first_row + i) * seq_kv + block.first_column, block.columns,
             dropped + i * stride);
}

}  // namespace assay::optimized
