#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <vector>

#include "assay/spec/operators.hpp"
#include "entries.hpp"
#include "fuzz.hpp"

namespace {

using namespace assay;

constexpr std::array<std::int64_t, 12> edges = {0,
                                                1,
                                                -1,
                                                2,
                                                8,
                                                64,
                                                2048,
                                                1 << 20,
                                                std::int64_t{1} << 40,
                                                std::numeric_limits<std::int64_t>::max(),
                                                std::numeric_limits<std::int64_t>::min(),
                                                3};

/// Changes members of a call. The new values come from the fuzzer's bytes.
class Changes {
 public:
  explicit Changes(fuzz::Bytes& bytes) : bytes_(bytes) {}

  void operator()(std::string_view, auto& member, const auto&...) {
    if (left_-- == 0) change(member);
  }
  /// Selects the member that is changed next, by its number.
  void aim(int member) { left_ = member; }

 private:
  std::int64_t number() { return edges[bytes_.take<std::uint8_t>() % edges.size()]; }
  void change(std::int64_t& member) { member = number(); }
  void change(double& member) { member = bytes_.take<double>(); }
  void change(bool& member) { member = !member; }
  void change(std::string& member) {
    member.assign(1, static_cast<char>(bytes_.take<std::uint8_t>() | 1));
  }
  void change(std::vector<std::int64_t>& member) {
    member.resize(bytes_.take<std::uint8_t>() % 10);
    if (!member.empty()) member[bytes_.take<std::uint8_t>() % member.size()] = number();
  }
  template <spec::Spelled Enum>
  void change(Enum& member) {
    const auto& entries = spec::spellings_of<Enum>.entries;
    member = entries[bytes_.take<std::uint8_t>() % entries.size()].first;
  }
  template <class T>
  void change(std::optional<T>& member) {
    if (bytes_.take<std::uint8_t>() % 4 == 0)
      member.reset();
    else
      change(member ? *member : member.emplace());
  }
  void change(spec::Parameter& member) {
    switch (bytes_.take<std::uint8_t>() % 6) {
      case 0:
        return change(member.present);
      case 1:
        return change(member.dtype);
      case 2:
        return change(member.format);
      case 3:  // one count gives the number of extents and strides
        change(member.shape);
        return member.strides.resize(member.shape.size());
      case 4:
        change(member.strides);
        return member.strides.resize(member.shape.size());
      default:
        return change(member.offset);
    }
  }

  fuzz::Bytes& bytes_;
  int left_ = -1;
};

/// Returns whether the view of every tensor is small enough to allocate memory for it. Also checks
/// the shapes of tensors that are marked as absent.
template <class Op>
bool is_small(const spec::Call<Op>& call) {
  bool small = true;
  visit_fields(call.parameters, [&](std::string_view, const auto& member) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(member)>, spec::Parameter>) {
      if (member.dtype >= spec::DType::hifloat8) small = false;  // this type has no numbers
      std::int64_t reach = 1, elements = 1;                      // strides of 0 repeat elements
      if (member.offset < 0 || member.offset > 1 << 20) small = false;
      for (std::size_t k = 0; small && k < member.shape.size(); ++k) {
        const std::int64_t extent = member.shape[k], stride = member.strides[k];
        small = extent >= 0 && extent <= 1 << 12 && stride >= 0 && stride <= 1 << 16;
        if (!small) break;
        reach += extent * stride, elements *= std::max<std::int64_t>(extent, 1);
        small = reach <= 1 << 22 && elements <= 1 << 18;
      }
    }
  });
  return small;
}

/// Phase 1 (argument check) must return a status for every call. If the tensors exist, phase 2 (the
/// run) must return a status, too.
template <class Op, class Phase2>
void call_entries(spec::Call<Op> call, fuzz::Bytes& bytes, const Phase2& phase_2) {
  Changes changes(bytes);
  for (int k = 0; k < 8 && !bytes.empty(); ++k) {
    const int member = bytes.take<std::uint8_t>() % 64;
    changes.aim(member);
    visit_fields(call.parameters, changes);
    visit_fields(call.attributes, changes);
  }
  if (!is_small(call)) {
    test::Handles handles;
    const test::Prepared prepared = phase_1(call, handles);
    if (prepared.status == ACLNN_SUCCESS) aclDestroyAclOpExecutor(prepared.executor);
    return;
  }
  test::Filling<Op> filling = test::filling_of(call);
  test::Handles handles(filling.uploaded.addresses());
  const test::Prepared prepared = phase_1(call, handles);
  fuzz::require(prepared.status == ACLNN_SUCCESS || prepared.executor == nullptr);
  if (prepared.status != ACLNN_SUCCESS) return;
  aclrtStream stream = nullptr;
  fuzz::require(aclrtCreateStream(&stream) == ACL_SUCCESS);
  {
    const test::Workspace workspace(prepared.workspace_size);
    phase_2(workspace.get(), prepared.workspace_size, prepared.executor, stream);
    aclrtSynchronizeStream(stream);
  }
  aclrtDestroyStream(stream);
}

void start_device() {
  static const bool started = aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS;
  fuzz::require(started);
}

/// Returns a small legal problem for the entry point.
template <class Op>
typename Op::Problem problem_of(typename Op::EntryPoint) {
  return {};
}
template <>
spec::FlashAttentionScoreGrad::Problem problem_of<spec::FlashAttentionScoreGrad>(
    spec::FlashEntryPoint entry_point) {
  spec::FlashAttentionScoreGrad::Problem problem{
      .heads_q = 2, .seq_q = 3, .seq_kv = 5, .head_dim = 16, .head_dim_v = 16};
  if (spec::is_unpadding(entry_point)) problem.input_layout = spec::Layout::tnd;
  if (spec::has_sink(entry_point)) problem.sink = spec::SinkShape::per_head;
  return problem;
}

using Entry = std::function<void(fuzz::Bytes&)>;

/// Adds the entry points of the operator for which tests/optimized/aclnn contains a call.
template <class Op>
void add_entries(std::vector<Entry>& all) {
  if constexpr (requires { test::phase_2_of(typename Op::EntryPoint{}); })
    for (const auto& [entry_point, name] : spec::spellings_of<typename Op::EntryPoint>.entries)
      if (test::phase_2_of(entry_point) != nullptr)
        all.push_back([entry_point](fuzz::Bytes& bytes) {
          call_entries(spec::call_of(problem_of<Op>(entry_point), entry_point, spec::Product::a2,
                                     spec::Striding::contiguous, spec::Striding::contiguous),
                       bytes, test::phase_2_of(entry_point));
        });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  static const std::vector<Entry> entries = [] {
    std::vector<Entry> all;
    spec::for_each_operator([&]<class Op> { add_entries<Op>(all); });
    return all;
  }();
  start_device();
  fuzz::Bytes bytes(input, size);
  entries[bytes.take<std::uint8_t>() % entries.size()](bytes);
  return 0;
}
