#include "aclnn/entries/entry.hpp"

namespace assay::aclnn {
namespace {

using ForwardOp = spec::NsaCompress;
using ForwardCall = spec::Call<ForwardOp>;

ForwardOp::Problem forward_problem_of(const ForwardCall& call) {
  const spec::Parameter& input = call.parameters.input;
  const SequenceLengths lengths = lengths_of(*call.parameters.act_seq_len);
  return {.dtype = input.dtype,
          .batch = static_cast<std::int64_t>(lengths.all.size()),
          .heads = input.shape[1],
          .seq = lengths.longest,
          .lengths = lengths.all,
          .head_dim = input.shape[2],
          .compress_block_size = call.attributes.compress_block_size,
          .compress_stride = call.attributes.compress_stride};
}

void compress(Device& device, const ForwardOp::Problem& problem, const Bindings& tensors) {
  const ForwardOp::Inputs inputs = {.input = tensors.gather("input"),
                                    .weight = tensors.gather("weight")};
  ForwardOp::Outputs outputs = {.output = tensors.blank("output")};
  device.nsa_compress.with_one([&](auto& kernel) { kernel.run(problem, inputs, outputs); });
  tensors.scatter("output", outputs.output);
}

}  // namespace

template <>
struct Entry<ForwardOp> {
  static ForwardOp::EntryPoint entry_point(std::string_view) { return ForwardOp::EntryPoint::f1; }

  static ForwardOp::Parameters parameters(const Arguments& given) {
    return {.input = given.tensor("input"),
            .weight = given.tensor("weight"),
            .output = given.tensor("output"),
            .act_seq_len = given.array("actSeqLenOptional")};
  }

  static ForwardOp::Attributes attributes(const Arguments& given) {
    return {.compress_block_size = given.integer("compressBlockSize"),
            .compress_stride = given.integer("compressStride"),
            .act_seq_len_type = given.integer("actSeqLenType"),
            .layout = given.text("layoutOptional")};
  }

  static PlannedRun decide(const std::shared_ptr<Device>& device, const Operands& operands,
                           const ForwardCall& call) {
    device->nsa_compress.check(call);
    operands.require_size(device->memory);
    return {.run = [device, problem = forward_problem_of(call)](const Bindings& tensors) {
      compress(*device, problem, tensors);
    }};
  }
};

template aclnnStatus phase_1_of<ForwardOp>(const Phase1&, std::initializer_list<Argument>) noexcept;

}  // namespace assay::aclnn
