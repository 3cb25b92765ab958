#include "aclnn/prototypes/nsa_compress_grad.hpp"

#include "aclnn/driver.hpp"
#include "assay/adapters/aclnn.hpp"

namespace assay::adapters {

using spec::NsaCompressGrad;

template <>
struct EntryPoints<NsaCompressGrad> {
  using Op = NsaCompressGrad;

  static std::string symbol(spec::CompressEntryPoint) { return "aclnnNsaCompressGrad"; }
  static spec::CompressEntryPoint entry_point_of(const Op::Problem&) {
    return spec::CompressEntryPoint::c1;
  }

  static Contents contents(Op::Parameters& p, const Op::Inputs& in, Op::Outputs& out) {
    Contents contents;
    contents.input("outputGrad", p.output_grad, in.output_grad);
    contents.input("input", p.input, in.input);
    contents.input("weight", p.weight, in.weight);
    contents.output("inputGradOut", p.input_grad, out.input_grad);
    contents.output("weightGradOut", p.weight_grad, out.weight_grad);
    return contents;
  }
};

template std::unique_ptr<spec::Implementation<NsaCompressGrad>> open_aclnn<NsaCompressGrad>(
    const std::string&);

}  // namespace assay::adapters
