#include "aclnn/prototypes/sparse_flash_attention_grad.hpp"

#include "aclnn/driver.hpp"
#include "assay/adapters/aclnn.hpp"

namespace assay::adapters {

using spec::SparseFlashAttentionGrad;

template <>
struct EntryPoints<SparseFlashAttentionGrad> {
  using Op = SparseFlashAttentionGrad;

  static std::string symbol(spec::SparseFlashEntryPoint) { return "aclnnSparseFlashAttentionGrad"; }
  static spec::SparseFlashEntryPoint entry_point_of(const Op::Problem&) {
    return spec::SparseFlashEntryPoint::g1;
  }

  static Contents contents(Op::Parameters& p, const Op::Inputs& in, Op::Outputs& out) {
    Contents contents;
    contents.input("query", p.query, in.query);
    contents.input("key", p.key, in.key);
    contents.input("value", p.value, in.value);
    contents.input("sparseIndices", p.sparse_indices, in.sparse_indices);
    contents.input("dOut", p.d_out, in.d_out);
    contents.input("out", p.out, in.out);
    contents.input("softmaxMax", p.softmax_max, in.softmax_max);
    contents.input("softmaxSum", p.softmax_sum, in.softmax_sum);
    contents.input("actualSeqLengthsQueryOptional", p.actual_seq_lengths_query,
                   in.actual_seq_lengths_query);
    contents.input("actualSeqLengthsKvOptional", p.actual_seq_lengths_kv, in.actual_seq_lengths_kv);
    contents.input("queryRopeOptional", p.query_rope, in.query_rope);
    contents.input("keyRopeOptional", p.key_rope, in.key_rope);
    contents.output("dQueryOut", p.d_query, out.d_query);
    contents.output("dKeyOut", p.d_key, out.d_key);
    contents.output("dValueOut", p.d_value, out.d_value);
    contents.output("dQueryRopeOutOptional", p.d_query_rope, out.d_query_rope);
    contents.output("dKeyRopeOutOptional", p.d_key_rope, out.d_key_rope);
    return contents;
  }
};

template std::unique_ptr<spec::Implementation<SparseFlashAttentionGrad>>
open_aclnn<SparseFlashAttentionGrad>(const std::string&);

}  // namespace assay::adapters
