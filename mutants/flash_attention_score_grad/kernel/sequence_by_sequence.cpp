#include "flash_attention_score_grad/kernel/sequence_by_sequence.hpp"

#include <algorithm>
#include <utility>

namespace assay::mutants {
namespace {

/// Position and size of one sequence in the packed tensors.
struct Cut {
  std::int64_t b, first_query, queries, first_key, keys, first_score;
};

std::vector<Cut> cuts_of(const Op::Problem& p) {
  std::vector<Cut> cuts;
  Cut next = {};
  for (std::int64_t b = 0; b < p.batch; ++b) {
    next.b = b, next.queries = p.length_q(b), next.keys = p.length_kv(b);
    cuts.push_back(next);
    next.first_query += next.queries, next.first_key += next.keys;
    next.first_score += p.heads_q * next.queries * next.keys;
  }
  return cuts;
}

spec::Tensor tokens_of(spec::Tensor tensor, std::int64_t first, std::int64_t count) {
  tensor.offset += first * tensor.strides[0];
  tensor.shape[0] = count;
  return tensor;
}

/// Copies consecutive elements in row-major order, from element `first` on, to a contiguous tensor.
spec::Tensor run_of(const spec::Tensor& tensor, std::int64_t first, const spec::Shape& shape) {
  const std::vector<std::int64_t> elements = viewed_elements(tensor);
  spec::Tensor part = spec::contiguous_tensor(tensor.dtype, shape);
  for (std::int64_t k = 0; k < spec::element_count(shape); ++k)
    part.store(k, tensor.load(elements[static_cast<std::size_t>(first + k)]));
  return part;
}

spec::Tensor statistics_of(const Op::Problem& p, const spec::Tensor& tensor, const Cut& cut) {
  if (p.statistics_order == spec::StatisticsOrder::tokens_first)
    return tokens_of(tensor, cut.first_query, cut.queries);
  return run_of(tensor, p.heads_q * cut.first_query * spec::statistics_replicas,
                {cut.queries, p.heads_q, spec::statistics_replicas});
}

spec::Tensor mask_of(spec::Tensor mask, const Op::Problem& p, const Cut& cut) {
  const bool has_slice = mask.shape.size() == 4 && mask.shape[0] > 1;
  if (has_slice) mask.offset += cut.b * mask.strides[0], mask.shape[0] = 1;
  if (is_compressed(p.atten_mask)) return mask;
  mask.shape.end()[-2] = cut.queries;
  mask.shape.end()[-1] = cut.keys;
  return mask;
}

/// Copies the drop bits (dropout mask) of one sequence, shifted so that its first bit becomes bit 0
/// of a byte.
spec::Tensor drop_bits_of(const Op::Problem& p, const spec::Tensor& tensor, const Cut& cut) {
  const std::vector<std::int64_t> elements = viewed_elements(tensor);
  const std::int64_t count = p.heads_q * cut.queries * cut.keys;
  spec::Tensor part = spec::contiguous_tensor(spec::DType::uint8, {(count + 7) / 8});
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t bit = cut.first_score + k;
    const auto from =
        static_cast<unsigned>(tensor.load(elements[static_cast<std::size_t>(bit / 8)]));
    const auto onto = static_cast<unsigned>(part.load(k / 8));
    part.store(k / 8, onto | (from >> (bit % 8) & 1u) << (k % 8));
  }
  return part;
}

/// Returns the compressed bias for a sequence with fewer keys than `columns`. In the original
/// tensor, the element in row r (of 1024) and column c has the distance r - c - 1024 + columns.
spec::Tensor compressed_pse_of(const spec::Tensor& tensor, const Cut& cut) {
  const std::int64_t heads = tensor.shape[1], rows = tensor.shape[2], columns = tensor.shape[3];
  const std::int64_t batch = tensor.shape[0] == 1 ? 0 : cut.b;
  spec::Tensor part = spec::contiguous_tensor(tensor.dtype, {1, heads, rows, cut.keys});
  for (std::int64_t k = 0; k < spec::element_count(part.shape); ++k) {
    const std::int64_t n = k / cut.keys / rows, column = k % cut.keys;
    const std::int64_t row = k / cut.keys % rows - (columns - cut.keys);
    const std::int64_t below = std::max<std::int64_t>(row, 0);
    const std::int64_t right = std::min(column + below - row, columns - 1);
    const spec::Shape& strides = tensor.strides;
    part.store(k, tensor.load(tensor.offset + batch * strides[0] + n * strides[1] +
                              below * strides[2] + right * strides[3]));
  }
  return part;
}

/// Extracts the part of one sequence from a full bias, or from a bias with a single row.
spec::Tensor full_pse_of(const spec::Tensor& tensor, const Cut& cut) {
  spec::Tensor part = tensor;
  if (part.shape[0] > 1) part.offset += cut.b * part.strides[0], part.shape[0] = 1;
  part.shape[2] = std::min(part.shape[2], cut.queries);
  part.shape[3] = cut.keys;
  return part;
}

spec::Tensor pse_of(const Op::Problem& p, const spec::Tensor& tensor, const Cut& cut) {
  switch (p.pse_shift) {
    case spec::PseShape::bnss:
    case spec::PseShape::bn1s:
    case spec::PseShape::one_nss:
      return full_pse_of(tensor, cut);
    case spec::PseShape::packed_bn1s:
      return run_of(tensor, p.heads_q * cut.first_key, {p.heads_q * cut.keys});
    case spec::PseShape::packed_bnss:
      return run_of(tensor, cut.first_score, {p.heads_q * cut.queries * cut.keys});
    case spec::PseShape::slopes_bn:
      return run_of(tensor, p.heads_q * cut.b, {1, p.heads_q});
    case spec::PseShape::slopes_n:
      return tensor;
    default:
      return compressed_pse_of(tensor, cut);
  }
}

Op::Problem problem_of(const Op::Problem& p, const Cut& cut, std::int64_t sparse_mode) {
  Op::Problem one = p;
  one.batch = 1;
  one.seq_q = cut.queries, one.seq_kv = cut.keys;
  one.lengths_q = {cut.queries}, one.lengths_kv = {cut.keys};
  one.padding_q = one.padding_kv = 0;
  one.sparse_mode = sparse_mode;
  if (!p.prefix.empty()) one.prefix = {p.prefix[static_cast<std::size_t>(cut.b)]};
  if (p.sparse_mode == 8 && cut.b > 0) one.q_start_idx.clear(), one.kv_start_idx.clear();
  return one;
}

Op::Inputs inputs_of(const Op::Problem& p, const Op::Inputs& all, const Cut& cut) {
  const auto of_queries = [&](const spec::Tensor& tensor) {
    return tokens_of(tensor, cut.first_query, cut.queries);
  };
  const auto of_keys = [&](const spec::Tensor& tensor) {
    return tokens_of(tensor, cut.first_key, cut.keys);
  };
  Op::Inputs one = {.query = of_queries(all.query),
                    .key = of_keys(all.key),
                    .value = of_keys(all.value),
                    .dy = of_queries(all.dy),
                    .softmax_max = statistics_of(p, all.softmax_max, cut),
                    .softmax_sum = statistics_of(p, all.softmax_sum, cut),
                    .attention_in = of_queries(all.attention_in)};
  if (all.atten_mask) one.atten_mask = mask_of(*all.atten_mask, p, cut);
  if (all.pse_shift) one.pse_shift = pse_of(p, *all.pse_shift, cut);
  if (all.drop_mask) one.drop_mask = drop_bits_of(p, *all.drop_mask, cut);
  if (all.query_rope) one.query_rope = of_queries(*all.query_rope);
  if (all.key_rope) one.key_rope = of_keys(*all.key_rope);
  one.sink = all.sink;
  return one;
}

/// Adds the sink gradient of one sequence to the sum over all sequences, in fp32.
void add_dsink(const spec::Tensor& part, std::vector<float>& sum) {
  for (std::size_t n = 0; n < sum.size(); ++n)
    sum[n] += static_cast<float>(part.load(static_cast<std::int64_t>(n)));
}

/// A view of one sequence in the storage of a gradient tensor. The constructor moves the storage
/// into the view; the destructor moves it back.
class SequenceView {
 public:
  SequenceView(spec::Tensor& whole, spec::Tensor& part, std::int64_t first, std::int64_t count)
      : whole_(&whole), part_(&part), offset_(whole.offset), shape_(whole.shape) {
    part = tokens_of(std::move(whole), first, count);
  }
  ~SequenceView() {
    *whole_ = std::move(*part_);
    whole_->offset = offset_;
    whole_->shape = shape_;
  }
  SequenceView(const SequenceView&) = delete;
  SequenceView& operator=(const SequenceView&) = delete;

 private:
  spec::Tensor *whole_, *part_;
  std::int64_t offset_;
  spec::Shape shape_;
};

}  // namespace

void SequenceBySequence::run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) {
  if (!is_packed(p.input_layout)) return Kernel::run(p, inputs, outputs);
  clear_last_tokens(outputs.dq, p.padding_q);
  clear_last_tokens(outputs.dk, p.padding_kv);
  clear_last_tokens(outputs.dv, p.padding_kv);
  if (outputs.dq_rope) clear_last_tokens(*outputs.dq_rope, p.padding_q);
  if (outputs.dk_rope) clear_last_tokens(*outputs.dk_rope, p.padding_kv);
  const AttentionWork modes = {.problem = p};
  std::vector<float> dsink(outputs.dsink ? static_cast<std::size_t>(p.heads_q) : 0, 0.0F);
  for (const Cut& cut : cuts_of(p)) {
    Op::Outputs one;
    const SequenceView dq(outputs.dq, one.dq, cut.first_query, cut.queries);
    const SequenceView dk(outputs.dk, one.dk, cut.first_key, cut.keys);
    const SequenceView dv(outputs.dv, one.dv, cut.first_key, cut.keys);
    std::optional<SequenceView> dq_rope, dk_rope;
    if (outputs.dq_rope)
      dq_rope.emplace(*outputs.dq_rope, one.dq_rope.emplace(), cut.first_query, cut.queries);
    if (outputs.dk_rope)
      dk_rope.emplace(*outputs.dk_rope, one.dk_rope.emplace(), cut.first_key, cut.keys);
    if (outputs.dsink) one.dsink = spec::contiguous_tensor(spec::DType::fp32, {p.heads_q});
    Kernel::run(problem_of(p, cut, sparse_mode(modes, cut.b)), inputs_of(p, inputs, cut), one);
    if (one.dsink) add_dsink(*one.dsink, dsink);
  }
  if (!outputs.dsink) return;
  const std::vector<std::int64_t> elements = viewed_elements(*outputs.dsink);
  for (std::size_t n = 0; n < dsink.size(); ++n) outputs.dsink->store(elements[n], dsink[n]);
}

}  // namespace assay::mutants
