#include "assay/spec/operators/nsa_compress.hpp"

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

  static acl::Status ask(Phase1& phase, Arguments& a, const spec::Call<Op>& call) {
    const auto& p = call.parameters;
    const auto& attributes = call.attributes;
    return acl::invoke(
        phase.symbol,
        std::tuple_cat(std::tuple(a.tensor("input", p.input), a.tensor("weight", p.weight),
                                  a.array(p.act_seq_len), a.text(attributes.layout)),
                       std::tuple(attributes.compress_block_size, attributes.compress_stride,
                                  attributes.act_seq_len_type, a.tensor("output", p.output)),
                       answers_of(phase, p)));
  }
};

template std::unique_ptr<spec::Implementation<NsaCompress>> open_aclnn<NsaCompress>(
    const std::string&);

}  // namespace assay::adapters
