#include <string>
#include <utility>

#include "assay/spec/operators/toy_operator.hpp"
#include "checked.hpp"
#include "planting.hpp"
#include "rounding.hpp"

namespace assay::mutants {
namespace {

using Op = spec::ToyOperator;

/// The injected faults. EDIT: faults that users make.
enum class Fault : std::uint8_t {
  none,
  short_window,
  weight_of_head_0,
  next_head,
  sums_in_16_bits
};

/// A plain kernel that sums in fp32.
class Kernel : public spec::Implementation<Op> {
 public:
  Kernel(std::string name, Fault fault) : name_(std::move(name)), fault_(fault) {}

  std::string name() const override { return name_; }
  bool checks_arguments() const override { return false; }
  void run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    const spec::Extents e = output_extents(p);
    const spec::HeadView input(inputs.input, spec::Layout::tnd, input_extents(p));
    const spec::HeadIndex to(outputs.output, spec::Layout::tnd, e);
    const spec::Shape& strides = inputs.weight.strides;
    for (std::int64_t row = 0; row < e.rows(); ++row)
      for (std::int64_t d = 0; d < e.dim; ++d) {
        const auto [b, n, i] = e.position(row);
        const bool is_next = fault_ == Fault::next_head && i + 1 == e.seq;
        const std::int64_t from = is_next ? (n + 1) % p.heads : n;
        float sum = 0;
        for (std::int64_t w = 0; w < p.window - (fault_ == Fault::short_window ? 1 : 0); ++w) {
          const std::int64_t head = fault_ == Fault::weight_of_head_0 ? 0 : n;
          sum += static_cast<float>(inputs.weight.load(inputs.weight.offset + w * strides[0] +
                                                       head * strides[1])) *
                 static_cast<float>(input(0, from, i + w, d));
          if (fault_ == Fault::sums_in_16_bits)
            sum = static_cast<float>(spec::round_to(sum, spec::format_of(p.dtype)));
        }
        outputs.output.store(to(0, n, i, d), sum);
      }
  }

 private:
  std::string name_;
  Fault fault_;
};

}  // namespace

template <>
std::vector<MutantOf<Op>> mutants() {
  const auto planted = [](const char* name, const char* bug, Fault fault) {
    return planted_in<Op, Kernel>(name, bug, fault);
  };
  std::vector<MutantOf<Op>> all = {
      healthy_in<Op, Kernel>("plain", "sums in fp32, in order", Fault::none),
      planted("short_window", "the last token of a window is lost", Fault::short_window),
      planted("weight_of_head_0", "every head uses the weights of head 0", Fault::weight_of_head_0),
      planted("next_head", "the last row reads the input of the next head", Fault::next_head),
      planted("sums_in_16_bits", "sums are rounded to 16 bits", Fault::sums_in_16_bits)};
  all.push_back(checking<Kernel, Op>("checked", "checks its arguments", Fault::none, {}));
  all.back().healthy = true;
  for (auto& one : careless<Kernel, Op>("toy_", Fault::none, {})) all.push_back(std::move(one));
  return all;
}

template <>
std::vector<MutantOf<Op>> grown_mutants() {
  return {};
}

}  // namespace assay::mutants
