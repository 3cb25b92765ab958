#include "check_cases.hpp"

namespace assay::test {

using spec::FlashEntryPoint;

FlashOp::Problem plain_problem(FlashEntryPoint entry_point) {
  FlashOp::Problem problem = {.input_layout = spec::Layout::bnsd,
                              .dtype = spec::DType::bf16,
                              .batch = 3,
                              .heads_q = 4,
                              .heads_kv = 2,
                              .seq_q = 20,
                              .seq_kv = 30,
                              .head_dim = 24,
                              .head_dim_v = 16,
                              .atten_mask = spec::MaskShape::ss};
  if (!spec::is_unpadding(entry_point)) return problem;
  problem.input_layout = spec::Layout::tnd;
  problem.lengths_q = {5, 20, 12}, problem.lengths_kv = {30, 25, 7};
  if (spec::has_rope(entry_point)) problem.head_dim_rope = 8;
  return problem;
}

FlashCall call_of(const FlashOp::Problem& problem, FlashEntryPoint entry_point) {
  return spec::call_of(problem, entry_point, spec::Product::a2, spec::Striding::contiguous,
                       spec::Striding::contiguous);
}

std::vector<CheckCase> joined(std::initializer_list<std::span<const CheckCase>> parts) {
  std::vector<CheckCase> all;
  for (const auto part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

spec::Parameter parameter(spec::DType dtype, const spec::Shape& shape) {
  return {
      .present = true, .dtype = dtype, .shape = shape, .strides = spec::contiguous_strides(shape)};
}

void resize(spec::Parameter& tensor, std::size_t axis, std::int64_t extent) {
  tensor.shape[axis] = extent;
  tensor.strides = spec::contiguous_strides(tensor.shape);
}

const std::vector<FlashEntryPoint>& every_entry_point() {
  static const std::vector<FlashEntryPoint> list = {FlashEntryPoint::g1, FlashEntryPoint::g2,
                                                    FlashEntryPoint::u1, FlashEntryPoint::u2,
                                                    FlashEntryPoint::u3, FlashEntryPoint::u4};
  return list;
}

const std::vector<FlashEntryPoint>& padded() {
  static const std::vector<FlashEntryPoint> list = {FlashEntryPoint::g1, FlashEntryPoint::g2};
  return list;
}

const std::vector<FlashEntryPoint>& unpadding() {
  static const std::vector<FlashEntryPoint> list = {FlashEntryPoint::u1, FlashEntryPoint::u2,
                                                    FlashEntryPoint::u3, FlashEntryPoint::u4};
  return list;
}

const std::vector<FlashEntryPoint>& unpadding_without_rope() {
  static const std::vector<FlashEntryPoint> list = {FlashEntryPoint::u1, FlashEntryPoint::u2,
                                                    FlashEntryPoint::u4};
  return list;
}

}  // namespace assay::test
