#pragma once

#include <concepts>

#include "assay/spec/implementation.hpp"
#include "assay/spec/tensor.hpp"
#include "session.hpp"

namespace assay::test {

/// Makes a tensor with a storage that is larger than its view, and fills the storage with the byte
/// `fill`.
spec::Tensor storage_of(const spec::Parameter& parameter, std::byte fill);

/// Fills the view of a tensor with random elements that are valid for the operator's tensor `name`:
/// floats in [-1, 1), sums of at least 1, masks of 0 and 1, random dropout bits, indices of the
/// first blocks.
void fill_with_noise(std::string_view name, spec::Tensor& tensor);

/// Returns the tensor, and creates it if it does not exist.
inline spec::Tensor& there(spec::Tensor& tensor) { return tensor; }
inline spec::Tensor& there(std::optional<spec::Tensor>& tensor) {
  return tensor ? *tensor : tensor.emplace();
}

/// The function of an entry point's second phase, which starts the kernel.
using Phase2 = aclnnStatus (*)(void*, std::uint64_t, aclOpExecutor*, aclrtStream);

/// Calls visit(name, parameter, tensor) for every input or output that is present in the call.
template <class Parameters, class Tensors, class Visitor>
void visit_tensors_of(const Parameters& parameters, Tensors& tensors, const Visitor& visit) {
  visit_fields(tensors, [&](std::string_view name, auto& tensor) {
    visit_fields(parameters, [&](std::string_view other, const auto& parameter) {
      if constexpr (std::same_as<decltype(parameter), const spec::Parameter&>)
        if (name == other && parameter.present) visit(name, parameter, there(tensor));
    });
  });
}

/// Keeps copies of tensors on the device, by name.
class Uploaded {
 public:
  void add(std::string_view name, const spec::Tensor& tensor);
  Addresses addresses() const;
  std::vector<std::byte> download(std::string_view name) const;

 private:
  std::map<std::string_view, DeviceBytes> bytes_;
};

/// Device memory for the workspace of an executor. The address is null if the executor needs none.
class Workspace {
 public:
  explicit Workspace(std::uint64_t size);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  void* get() const { return start_; }

 private:
  void* start_ = nullptr;
};

/// Runs phase 2 with a workspace of the requested size, and synchronizes the stream.
template <class Phase2>
void run(Phase2 phase_2, const Prepared& prepared, aclrtStream stream) {
  const Workspace workspace(prepared.workspace_size);
  EXPECT_EQ(phase_2(workspace.get(), prepared.workspace_size, prepared.executor, stream),
            ACLNN_SUCCESS)
      << recent_message();
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS) << recent_message();
}

/// The tensors of a call, on the host and on the device. Inputs contain random numbers, outputs are
/// filled with a fixed byte.
template <class Op>
struct Filling {
  typename Op::Inputs inputs;
  typename Op::Outputs outputs;
  Uploaded uploaded;
};

template <class Op>
Filling<Op> filling_of(const spec::Call<Op>& call) {
  Filling<Op> filling;
  const auto add = [&](std::string_view name, spec::Tensor& tensor, spec::Tensor made) {
    tensor = std::move(made);
    filling.uploaded.add(name, tensor);
  };
  visit_tensors_of(
      call.parameters, filling.inputs,
      [&](std::string_view name, const spec::Parameter& parameter, spec::Tensor& tensor) {
        spec::Tensor noise = storage_of(parameter, std::byte{0x7F});
        fill_with_noise(name, noise);
        add(name, tensor, std::move(noise));
      });
  visit_tensors_of(
      call.parameters, filling.outputs,
      [&](std::string_view name, const spec::Parameter& parameter, spec::Tensor& tensor) {
        add(name, tensor, storage_of(parameter, std::byte{0xAB}));
      });
  return filling;
}

/// Expects that the tensors on the device have the same bytes as on the host.
template <class Op>
void expect_equal_bytes(const spec::Call<Op>& call, Filling<Op>& filling) {
  const auto compare = [&](std::string_view name, const spec::Parameter&,
                           const spec::Tensor& tensor) {
    EXPECT_TRUE(filling.uploaded.download(name) == tensor.bytes) << name;
  };
  visit_tensors_of(call.parameters, filling.inputs, compare);
  visit_tensors_of(call.parameters, filling.outputs, compare);
}

/// Expects that the entry point and `own` leave the same bytes everywhere: in the outputs, in the
/// inputs, and outside of the views.
template <class Op, class Phase2>
void expect_same_bits(const spec::Call<Op>& call, const typename Op::Problem& problem,
                      spec::Implementation<Op>& own, Phase2 phase_2, aclrtStream stream) {
  Filling<Op> filling = filling_of(call);
  Handles handles(filling.uploaded.addresses());
  const Prepared prepared = phase_1(call, handles);
  ASSERT_EQ(prepared.status, ACLNN_SUCCESS) << recent_message();
  run(phase_2, prepared, stream);
  own.run(problem, filling.inputs, filling.outputs);
  expect_equal_bytes(call, filling);
}

/// Expects that phase 1 gives the same status and message as `own`.
template <class Op>
void expect_same_answer(const spec::Call<Op>& call, const spec::Implementation<Op>& own,
                        const std::string& function) {
  Handles handles;
  std::int32_t status = ACLNN_SUCCESS;
  std::string message;
  try {
    own.check(call);
  } catch (const spec::Rejected& rejected) {
    status = static_cast<std::int32_t>(rejected.status());
    message = function + ": " + rejected.what();
  }
  const Prepared prepared = phase_1(call, handles);
  EXPECT_EQ(prepared.status, status);
  EXPECT_EQ(recent_message(), message);
  if (status == ACLNN_SUCCESS) {
    EXPECT_EQ(aclDestroyAclOpExecutor(prepared.executor), ACLNN_SUCCESS);
  }
}

}  // namespace assay::test
