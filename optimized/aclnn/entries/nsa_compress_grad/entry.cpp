#include "aclnn/entries/entry.hpp"

#include <numeric>

#include "aclnn/entries/workspace_size.hpp"
#include "assay/optimized/nsa_compress_grad/tiling.hpp"

namespace assay::aclnn {
namespace {

using Op = spec::NsaCompressGrad;
using Call = spec::Call<Op>;

/// Returns the cumulative lengths of the sequences. With actSeqLenType 1 the given array contains
/// single lengths, which this function adds up. A null array means one sequence.
std::vector<std::int64_t> sums_of(const Call& call) {
  const auto& given = call.parameters.act_seq_len;
  if (!given || given->empty()) return {call.parameters.input.shape[0]};
  std::vector<std::int64_t> sums = *given;
  if (call.attributes.act_seq_len_type == 1)
    std::partial_sum(sums.begin(), sums.end(), sums.begin());
  return sums;
}

Op::Problem problem_of(const Call& call) {
  const auto& p = call.parameters;
  const SequenceLengths lengths = lengths_of(sums_of(call));
  return {.dtype = p.input.dtype,
          .batch = static_cast<std::int64_t>(lengths.all.size()),
          .heads = p.input.shape[1],
          .seq = lengths.longest,
          .lengths = lengths.all,
          .head_dim = p.input.shape[2],
          .compress_block_size = call.attributes.compress_block_size,
          .compress_stride = call.attributes.compress_stride};
}

void run(Device& device, const Op::Problem& problem, const Bindings& tensors) {
  const Op::Inputs inputs = {.output_grad = tensors.gather("outputGrad"),
                             .input = tensors.gather("input"),
                             .weight = tensors.gather("weight")};
  Op::Outputs outputs = {.input_grad = tensors.blank("inputGradOut"),
                         .weight_grad = tensors.blank("weightGradOut")};
  device.nsa_compress_grad.with_one([&](auto& kernel) { kernel.run(problem, inputs, outputs); });
  tensors.scatter("inputGradOut", outputs.input_grad);
  tensors.scatter("weightGradOut", outputs.weight_grad);
}

/// Returns the bytes of the fp32 partial sums of weight_grad. Each part of the tokens has its own
/// set of sums.
std::uint64_t workspace_size(const Op::Problem& problem,
                             const optimized::compress::Tiling& tiling) {
  WorkspaceSize size;
  size.add_floats(problem.heads * problem.compress_block_size * tiling.partials());
  return size.bytes();
}

}  // namespace

template <>
struct Entry<Op> {
  static Op::EntryPoint entry_point(std::string_view) { return Op::EntryPoint::c1; }

  static Op::Parameters parameters(const Arguments& given) {
    return {.output_grad = given.tensor("outputGrad"),
            .input = given.tensor("input"),
            .weight = given.tensor("weight"),
            .input_grad = given.tensor("inputGradOut"),
            .weight_grad = given.tensor("weightGradOut"),
            .act_seq_len = given.array("actSeqLenOptionalOptional")};
  }

  static Op::Attributes attributes(const Arguments& given) {
    return {.compress_block_size = given.integer("compressBlockSize"),
            .compress_stride = given.integer("compressStride"),
            .act_seq_len_type = given.integer("actSeqLenType"),
            .layout = given.text("layoutOptionalOptional")};
  }

  static PlannedRun decide(const std::shared_ptr<Device>& device, const Operands& operands,
                           const Call& call) {
    device->nsa_compress_grad.check(call);
    operands.require_size(device->memory);
    const Op::Problem problem = problem_of(call);
    PlannedRun plan = {
        .run = [device, problem](const Bindings& tensors) { run(*device, problem, tensors); }};
    if (spec::element_count(call.parameters.input.shape) > 0)
      plan.workspace_size =
          workspace_size(problem, optimized::compress::plan(problem, device->spec));
    return plan;
  }
};

template aclnnStatus phase_1_of<Op>(const Phase1&, std::initializer_list<Argument>) noexcept;

}  // namespace assay::aclnn
