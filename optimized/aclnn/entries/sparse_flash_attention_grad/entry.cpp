#include "aclnn/entries/entry.hpp"

#include "aclnn/entries/workspace_size.hpp"
#include "assay/optimized/sparse_flash_attention_grad/tiling.hpp"

namespace assay::aclnn {
namespace {

using Op = spec::SparseFlashAttentionGrad;
using Problem = Op::Problem;
using Call = spec::Call<Op>;

bool is_packed(const Call& call) { return *call.attributes.layout == "TND"; }

/// Returns the problem without the lengths of its sequences, because these are in device memory.
/// For the layout TND, the result has a single sequence with all tokens.
Problem problem_of(const Call& call) {
  const auto& p = call.parameters;
  const auto& a = call.attributes;
  const std::size_t tokens = is_packed(call) ? 0 : 1;
  return {.dtype = p.query.dtype,
          .layout = is_packed(call) ? spec::Layout::tnd : spec::Layout::bsnd,
          .batch = is_packed(call) ? 1 : p.query.shape[0],
          .heads_q = p.query.shape[tokens + 1],
          .seq_q = p.query.shape[tokens],
          .seq_kv = p.key.shape[tokens],
          .head_dim_rope = is_given(p.query_rope) ? Problem::most_rope : 0,
          .value_form = is_given(p.value) ? spec::SparseValue::given : spec::SparseValue::merged,
          .scale_value = a.scale_value,
          .sparse_block_size = a.sparse_block_size,
          .sparse_block_count = p.sparse_indices.shape.back(),
          .sparse_mode = a.sparse_mode};
}

/// Reads the lengths of the sequences from their cumulative sums. Errors: spec::Rejected if the
/// sums decrease or exceed the number of tokens.
SequenceLengths lengths_in(const spec::Tensor& sums, const std::string& name, std::int64_t tokens) {
  std::vector<std::int64_t> all;
  for (const std::int64_t element : spec::viewed_elements(sums))
    all.push_back(static_cast<std::int64_t>(sums.load(element)));
  std::int64_t before = 0;
  for (std::size_t b = 0; b < all.size(); before = all[b], ++b)
    if (all[b] < before || all[b] > tokens)
      throw spec::Rejected(spec::Status::param_invalid,
                           "SFAG-C30: entry " + std::to_string(b) + " of " + name + " is " +
                               std::to_string(all[b]) + "; it must be " + std::to_string(before) +
                               " to " + std::to_string(tokens));
  return lengths_of(all);
}

/// Adds the lengths of the sequences to the problem.
void add_lengths(Problem& p, const Bindings& tensors) {
  const SequenceLengths q = lengths_in(tensors.gather("actualSeqLengthsQueryOptional"),
                                       "actualSeqLengthsQuery", p.seq_q),
                        kv = lengths_in(tensors.gather("actualSeqLengthsKvOptional"),
                                        "actualSeqLengthsKv", p.seq_kv);
  p.batch = static_cast<std::int64_t>(q.all.size());
  p.seq_q = q.longest, p.lengths_q = q.all;
  p.seq_kv = kv.longest, p.lengths_kv = kv.all;
}

/// Removes the tokens after the last sequence from a contiguous tensor.
spec::Tensor without_rest(spec::Tensor tensor, const spec::Shape& shape) {
  tensor.shape = shape;
  tensor.strides = spec::contiguous_strides(shape);
  return tensor;
}

void run(Device& device, Problem problem, const Bindings& tensors) {
  const bool packed = spec::is_packed(problem.layout);
  if (packed) add_lengths(problem, tensors);
  const Op::Parameters used = spec::call_of(problem, Op::EntryPoint::g1, device.product,
                                            spec::Striding::contiguous, spec::Striding::contiguous)
                                  .parameters;
  const auto input = [&](std::string_view name, const spec::Parameter& of) {
    return without_rest(tensors.gather(name), of.shape);
  };
  const auto if_used = [&](std::string_view name, const spec::Parameter& of,
                           const auto& make) -> std::optional<spec::Tensor> {
    if (!of.present) return std::nullopt;
    return make(name, of);
  };
  const auto output = [&](std::string_view name, const spec::Parameter& of) {
    return without_rest(tensors.blank(name), of.shape);
  };
  const Op::Inputs inputs = {.query = input("query", used.query),
                             .key = input("key", used.key),
                             .value = if_used("value", used.value, input),
                             .sparse_indices = input("sparseIndices", used.sparse_indices),
                             .d_out = input("dOut", used.d_out),
                             .out = input("out", used.out),
                             .softmax_max = input("softmaxMax", used.softmax_max),
                             .softmax_sum = input("softmaxSum", used.softmax_sum),
                             .query_rope = if_used("queryRopeOptional", used.query_rope, input),
                             .key_rope = if_used("keyRopeOptional", used.key_rope, input)};
  Op::Outputs outputs = {
      .d_query = output("dQueryOut", used.d_query),
      .d_key = output("dKeyOut", used.d_key),
      .d_value = if_used("dValueOut", used.d_value, output),
      .d_query_rope = if_used("dQueryRopeOutOptional", used.d_query_rope, output),
      .d_key_rope = if_used("dKeyRopeOutOptional", used.d_key_rope, output)};
  device.sparse_flash_attention_grad.with_one(
      [&](auto& kernel) { kernel.run(problem, inputs, outputs); });
  tensors.scatter("dQueryOut", outputs.d_query);
  tensors.scatter("dKeyOut", outputs.d_key);
  if (outputs.d_value) tensors.scatter("dValueOut", *outputs.d_value);
  if (outputs.d_query_rope) tensors.scatter("dQueryRopeOutOptional", *outputs.d_query_rope);
  if (outputs.d_key_rope) tensors.scatter("dKeyRopeOutOptional", *outputs.d_key_rope);
}

/// Returns the bytes of the fp32 sums that the kernel keeps in global memory: sums of the
/// gradients, and row terms (sums of P dP).
std::uint64_t workspace_size(const Problem& p) {
  const std::int64_t width = Problem::head_dim + p.head_dim_rope;
  const std::int64_t rows = query_extents(p).rows(), keys = key_extents(p).rows();
  WorkspaceSize size;
  for (const std::int64_t floats : {rows * width, keys * width, keys * Problem::head_dim, rows})
    size.add_floats(floats);
  return size.bytes();
}

/// Treats a tensor of shape (0) as an absent optional tensor, because callers of the vendor's
/// library pass such tensors.
spec::Parameter optional(spec::Parameter tensor) {
  return tensor.shape == spec::Shape{0} ? spec::Parameter() : tensor;
}

}  // namespace

template <>
struct Entry<Op> {
  static Op::EntryPoint entry_point(std::string_view) { return Op::EntryPoint::g1; }

  static Op::Parameters parameters(const Arguments& given) {
    return {.query = given.tensor("query"),
            .key = given.tensor("key"),
            .value = optional(given.tensor("value")),
            .sparse_indices = given.tensor("sparseIndices"),
            .d_out = given.tensor("dOut"),
            .out = given.tensor("out"),
            .softmax_max = given.tensor("softmaxMax"),
            .softmax_sum = given.tensor("softmaxSum"),
            .actual_seq_lengths_query = given.tensor("actualSeqLengthsQueryOptional"),
            .actual_seq_lengths_kv = given.tensor("actualSeqLengthsKvOptional"),
            .query_rope = optional(given.tensor("queryRopeOptional")),
            .key_rope = optional(given.tensor("keyRopeOptional")),
            .d_query = given.tensor("dQueryOut"),
            .d_key = given.tensor("dKeyOut"),
            .d_value = optional(given.tensor("dValueOut")),
            .d_query_rope = optional(given.tensor("dQueryRopeOutOptional")),
            .d_key_rope = optional(given.tensor("dKeyRopeOutOptional"))};
  }

  static Op::Attributes attributes(const Arguments& given) {
    return {.scale_value = given.number("scaleValue"),
            .sparse_block_size = given.integer("sparseBlockSize"),
            .layout = given.text("layoutOptional"),
            .sparse_mode = given.integer("sparseMode"),
            .pre_tokens = given.integer("preTokens"),
            .next_tokens = given.integer("nextTokens"),
            .deterministic = given.integer("deterministic")};
  }

  static PlannedRun decide(const std::shared_ptr<Device>& device, const Operands& operands,
                           const Call& call) {
    device->sparse_flash_attention_grad.check(call);
    operands.require_size(device->memory);
    if (spec::element_count(call.parameters.query.shape) == 0) return {};
    const Problem problem = problem_of(call);
    optimized::sparse_flash::plan(problem, device->spec);  // throws if the problem does not fit
    return {.workspace_size = workspace_size(problem),
            .run = [device, problem](const Bindings& tensors) { run(*device, problem, tensors); }};
  }
};

template aclnnStatus phase_1_of<Op>(const Phase1&, std::initializer_list<Argument>) noexcept;

}  // namespace assay::aclnn
