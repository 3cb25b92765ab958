#include "entries.hpp"

#include "aclnn/prototypes/flash_attention_score.hpp"
#include "aclnn/prototypes/flash_attention_score_grad.hpp"
#include "aclnn/prototypes/nsa_compress.hpp"
#include "aclnn/prototypes/nsa_compress_grad.hpp"
#include "aclnn/prototypes/nsa_selected_attention.hpp"
#include "aclnn/prototypes/nsa_selected_attention_grad.hpp"
#include "aclnn/prototypes/sparse_flash_attention_grad.hpp"
#include "aclnnop/aclnn_flash_attention_score.h"
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "aclnnop/aclnn_nsa_compress.h"
#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "aclnnop/aclnn_nsa_selected_attention.h"
#include "aclnnop/aclnn_nsa_selected_attention_grad.h"
#include "aclnnop/aclnn_sparse_flash_attention_grad.h"

namespace assay::test {
namespace {

template <class Phase1>
struct Entry {
  std::string_view name;
  Phase1 phase_1;
  Phase2 phase_2;
};

/// The C functions of an entry point.
template <auto entry_point>
constexpr auto entry = nullptr;
template <>
constexpr Entry entry<spec::FlashForwardEntryPoint::f1> = {
    "aclnnFlashAttentionScore", aclnnFlashAttentionScoreGetWorkspaceSize, aclnnFlashAttentionScore};
template <>
constexpr Entry entry<spec::FlashForwardEntryPoint::f2> = {
    "aclnnFlashAttentionScoreV2", aclnnFlashAttentionScoreV2GetWorkspaceSize,
    aclnnFlashAttentionScoreV2};
template <>
constexpr Entry entry<spec::FlashForwardEntryPoint::l1> = {
    "aclnnFlashAttentionVarLenScore", aclnnFlashAttentionVarLenScoreGetWorkspaceSize,
    aclnnFlashAttentionVarLenScore};
template <>
constexpr Entry entry<spec::FlashForwardEntryPoint::l2> = {
    "aclnnFlashAttentionVarLenScoreV2", aclnnFlashAttentionVarLenScoreV2GetWorkspaceSize,
    aclnnFlashAttentionVarLenScoreV2};
template <>
constexpr Entry entry<spec::FlashForwardEntryPoint::l3> = {
    "aclnnFlashAttentionVarLenScoreV3", aclnnFlashAttentionVarLenScoreV3GetWorkspaceSize,
    aclnnFlashAttentionVarLenScoreV3};
template <>
constexpr Entry entry<spec::FlashForwardEntryPoint::f3> = {
    "aclnnFlashAttentionScoreV3", aclnnFlashAttentionScoreV3GetWorkspaceSize,
    aclnnFlashAttentionScoreV3};
template <>
constexpr Entry entry<spec::FlashForwardEntryPoint::l5> = {
    "aclnnFlashAttentionVarLenScoreV5", aclnnFlashAttentionVarLenScoreV5GetWorkspaceSize,
    aclnnFlashAttentionVarLenScoreV5};
template <>
constexpr Entry entry<spec::FlashEntryPoint::g1> = {"aclnnFlashAttentionScoreGrad",
                                                    aclnnFlashAttentionScoreGradGetWorkspaceSize,
                                                    aclnnFlashAttentionScoreGrad};
template <>
constexpr Entry entry<spec::FlashEntryPoint::g2> = {"aclnnFlashAttentionScoreGradV2",
                                                    aclnnFlashAttentionScoreGradV2GetWorkspaceSize,
                                                    aclnnFlashAttentionScoreGradV2};
template <>
constexpr Entry entry<spec::FlashEntryPoint::g3> = {"aclnnFlashAttentionScoreGradV3",
                                                    aclnnFlashAttentionScoreGradV3GetWorkspaceSize,
                                                    aclnnFlashAttentionScoreGradV3};
template <>
constexpr Entry entry<spec::FlashEntryPoint::u1> = {
    "aclnnFlashAttentionUnpaddingScoreGrad", aclnnFlashAttentionUnpaddingScoreGradGetWorkspaceSize,
    aclnnFlashAttentionUnpaddingScoreGrad};
template <>
constexpr Entry entry<spec::FlashEntryPoint::u2> = {
    "aclnnFlashAttentionUnpaddingScoreGradV2",
    aclnnFlashAttentionUnpaddingScoreGradV2GetWorkspaceSize,
    aclnnFlashAttentionUnpaddingScoreGradV2};
template <>
constexpr Entry entry<spec::FlashEntryPoint::u3> = {
    "aclnnFlashAttentionUnpaddingScoreGradV3",
    aclnnFlashAttentionUnpaddingScoreGradV3GetWorkspaceSize,
    aclnnFlashAttentionUnpaddingScoreGradV3};
template <>
constexpr Entry entry<spec::FlashEntryPoint::u4> = {
    "aclnnFlashAttentionUnpaddingScoreGradV4",
    aclnnFlashAttentionUnpaddingScoreGradV4GetWorkspaceSize,
    aclnnFlashAttentionUnpaddingScoreGradV4};
template <>
constexpr Entry entry<spec::FlashEntryPoint::u5> = {
    "aclnnFlashAttentionUnpaddingScoreGradV5",
    aclnnFlashAttentionUnpaddingScoreGradV5GetWorkspaceSize,
    aclnnFlashAttentionUnpaddingScoreGradV5};
template <>
constexpr Entry entry<spec::NsaCompressEntryPoint::f1> = {
    "aclnnNsaCompress", aclnnNsaCompressGetWorkspaceSize, aclnnNsaCompress};
template <>
constexpr Entry entry<spec::CompressEntryPoint::c1> = {
    "aclnnNsaCompressGrad", aclnnNsaCompressGradGetWorkspaceSize, aclnnNsaCompressGrad};
template <>
constexpr Entry entry<spec::SelectedForwardEntryPoint::f1> = {
    "aclnnNsaSelectedAttention", aclnnNsaSelectedAttentionGetWorkspaceSize,
    aclnnNsaSelectedAttention};
template <>
constexpr Entry entry<spec::SelectedEntryPoint::s1> = {
    "aclnnNsaSelectedAttentionGrad", aclnnNsaSelectedAttentionGradGetWorkspaceSize,
    aclnnNsaSelectedAttentionGrad};
template <>
constexpr Entry entry<spec::SparseFlashEntryPoint::g1> = {
    "aclnnSparseFlashAttentionGrad", aclnnSparseFlashAttentionGradGetWorkspaceSize,
    aclnnSparseFlashAttentionGrad};

/// Calls use(entry) with the functions of the entry point.
template <class EntryPoint, class Use>
void with_entry(EntryPoint entry_point, const Use& use) {
  static constexpr auto all = spec::spellings_of<EntryPoint>.entries;
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    ((all[k].first == entry_point ? use(entry<all[k].first>) : void()), ...);
  }
  (std::make_index_sequence<all.size()>());
}

template <class EntryPoint>
Phase2 second_phase(EntryPoint entry_point) {
  Phase2 found = nullptr;
  with_entry(entry_point, [&](const auto& entry) { found = entry.phase_2; });
  return found;
}

template <class EntryPoint>
std::string name_of_phase_1(EntryPoint entry_point) {
  std::string name;
  with_entry(entry_point, [&](const auto& entry) { name = entry.name; });
  return name + "GetWorkspaceSize";
}

/// Creates a handle for each argument. The names of the handles are the names of the members of
/// `parameters`.
template <class Parameters>
class Arguments {
 public:
  Arguments(const Parameters& parameters, Handles& handles)
      : parameters_(parameters), handles_(handles) {}

  aclTensor* tensor(std::string_view, const spec::Parameter& parameter) {
    return handles_.tensor(name_of(parameter), parameter);
  }
  const aclIntArray* array(const std::optional<std::vector<std::int64_t>>& values) {
    return handles_.array(name_of(values), values);
  }
  char* text(const std::optional<std::string>& text) { return test::text(text); }

 private:
  template <class Member>
  std::string_view name_of(const Member& wanted) const {
    std::string_view found;
    visit_fields(parameters_, [&](std::string_view name, const auto& member) {
      if (static_cast<const void*>(&member) == &wanted) found = name;
    });
    return found;
  }

  const Parameters& parameters_;
  Handles& handles_;
};

}  // namespace

template <class Op>
Prepared phase_1(const spec::Call<Op>& call, Handles& handles) {
  const auto& p = call.parameters;
  Prepared prepared;
  const std::tuple results(p.workspace_size ? &prepared.workspace_size : nullptr,
                           p.executor ? &prepared.executor : nullptr);
  Arguments arguments(p, handles);
  prepared.status = adapters::pass_arguments(call, arguments, [&](auto at, const auto& given) {
    return std::apply(entry<at()>.phase_1, std::tuple_cat(given, results));
  });
  return prepared;
}

template Prepared phase_1(const spec::Call<spec::FlashAttentionScore>&, Handles&);
template Prepared phase_1(const spec::Call<spec::FlashAttentionScoreGrad>&, Handles&);
template Prepared phase_1(const spec::Call<spec::NsaCompress>&, Handles&);
template Prepared phase_1(const spec::Call<spec::NsaCompressGrad>&, Handles&);
template Prepared phase_1(const spec::Call<spec::NsaSelectedAttention>&, Handles&);
template Prepared phase_1(const spec::Call<spec::NsaSelectedAttentionGrad>&, Handles&);
template Prepared phase_1(const spec::Call<spec::SparseFlashAttentionGrad>&, Handles&);

Phase2 phase_2_of(spec::FlashForwardEntryPoint entry_point) { return second_phase(entry_point); }
Phase2 phase_2_of(spec::FlashEntryPoint entry_point) { return second_phase(entry_point); }
Phase2 phase_2_of(spec::NsaCompressEntryPoint entry_point) { return second_phase(entry_point); }
Phase2 phase_2_of(spec::CompressEntryPoint entry_point) { return second_phase(entry_point); }
Phase2 phase_2_of(spec::SelectedForwardEntryPoint entry_point) { return second_phase(entry_point); }
Phase2 phase_2_of(spec::SelectedEntryPoint entry_point) { return second_phase(entry_point); }
Phase2 phase_2_of(spec::SparseFlashEntryPoint entry_point) { return second_phase(entry_point); }

std::string phase_1_name(spec::FlashForwardEntryPoint entry_point) {
  return name_of_phase_1(entry_point);
}
std::string phase_1_name(spec::FlashEntryPoint entry_point) { return name_of_phase_1(entry_point); }

}  // namespace assay::test
