#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/reference/nsa_compress_grad.hpp"

/// Problems with their numbers in plain rows, which relations between runs rearrange.
namespace assay::conformance::compress {

using Op = spec::NsaCompressGrad;
using CompressCase = Case<Op>;

/// One run: a problem and what it is given. Numbers are values of their type.
struct Trial {
  Op::Problem problem;
  reference::CompressOperands<double> rows;
  spec::Striding inputs = spec::Striding::contiguous, outputs = spec::Striding::contiguous;
};

/// The case's problem with the given tensors.
Trial trial_of(const Op::Problem& problem, const Op::Inputs& inputs);

/// The tensors of a trial, strided as it says.
Op::Inputs inputs_of(const Trial& trial);

/// Whether two trials ask a kernel for the very same thing.
bool is_same_run(const Trial& a, const Trial& b);

/// Values of both outputs, or something else that each of their elements has: rows in the order of
/// Extents::row, those of weight_grad as `weight_extents` numbers them.
struct Gradients {
  std::vector<double> input_grad, weight_grad;
};
Gradients gradients_of(const Op::Problem& problem, const Op::Outputs& outputs);
/// Every element 0.
Gradients zero_gradients(const Op::Problem& problem);

/// One of the two.
struct GradientTensor {
  const char* name;
  std::vector<double> Gradients::*member;
  spec::Extents (*extents)(const Op::Problem&);
};
spec::Extents weight_extents(const Op::Problem& problem);
inline constexpr GradientTensor gradient_tensors[] = {
    {"input_grad", &Gradients::input_grad, spec::input_extents},
    {"weight_grad", &Gradients::weight_grad, weight_extents}};

/// Where a row comes from, told by where it goes to; nothing: a row of zeros.
using Origin = std::function<std::optional<spec::RowPosition>(const spec::RowPosition&)>;

/// Where the rows of input, the windows, and the weights of the heads of a trial come from.
struct Origins {
  Origin input, window;
  std::function<std::int64_t(std::int64_t head)> head;
};

/// The trial of `problem`, with as many channels as `base` has, whose rows are those of `base` at
/// other places.
Trial rearranged(const Trial& base, const Op::Problem& problem, const Origins& origins);

/// Adds the gradients of a rearranged trial at the places where its rows come from.
void add_back(Gradients& sum, const Op::Problem& base, const Gradients& part,
              const Op::Problem& problem, const Origins& origins);

}  // namespace assay::conformance::compress
