#include "aclnn/prototypes/nsa_compress.hpp"

#include "aclnn/driver.hpp"
#include "assay/adapters/aclnn.hpp"

namespace assay::adapters {

using spec::NsaCompress;

template <>
struct EntryPoints<NsaCompress> {
  using Op = NsaCompress;

  static std::string symbol(spec::NsaCompressEntryPoint) { return "aclnnNsaCompress"; }
  static spec::NsaCompressEntryPoint entry_point_of(const Op::Problem&) {
    return spec::NsaCompressEntryPoint::f1;
  }

  static Contents contents(Op::Parameters& p, const Op::Inputs& in, Op::Outputs& out) {
    Contents contents;
    contents.input("input", p.input, in.input);
    contents.input("weight", p.weight, in.weight);
    contents.output("output", p.output, out.output);
    return contents;
  }
};

template std::unique_ptr<spec::Implementation<NsaCompress>> open_aclnn<NsaCompress>(
    const std::string&);

}  // namespace assay::adapters
