#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "acl_double.hpp"
#include "assay/adapters/aclnn.hpp"
#include "assay/spec/operators.hpp"
#include "assay/spec/striding.hpp"

namespace assay::adapters {
namespace {

using Op = spec::NsaCompressGrad;
using tests::Conduct;
using Kind = spec::ImplementationFault::Kind;

constexpr std::byte poison{0xa5}, written{0x3c};

class AclnnConduct : public testing::Test {
 protected:
  void SetUp() override { tell(Conduct::fills_outputs); }

  template <class Function>
  static Function exported(const char* symbol) {
    return reinterpret_cast<Function>(dlsym(dlopen(ACL_DOUBLE, RTLD_LAZY), symbol));
  }
  static void tell(Conduct conduct) { exported<tests::SetConduct>("double_set_conduct")(conduct); }
  static tests::Living living() { return exported<tests::CountLiving>("double_living")(); }

  static spec::Tensor tensor_of(const spec::Parameter& parameter, std::byte value) {
    spec::Tensor tensor{.dtype = parameter.dtype,
                        .shape = parameter.shape,
                        .strides = parameter.strides,
                        .offset = parameter.offset,
                        .bytes = {}};
    // Adds one spare element, because a storage may be larger than its view needs.
    tensor.bytes.assign(
        static_cast<std::size_t>(
            2 * (1 + spec::storage_elements(tensor.shape, tensor.strides, tensor.offset))),
        value);
    return tensor;
  }

  spec::Call<Op> call(spec::Striding striding = spec::Striding::padded) const {
    return call_of(problem_, spec::CompressEntryPoint::c1, spec::Product::a2, striding, striding);
  }

  Op::Outputs run(spec::Implementation<Op>& library, const spec::Call<Op>& made) const {
    const auto& p = made.parameters;
    const Op::Inputs inputs = {.output_grad = tensor_of(p.output_grad, std::byte{1}),
                               .input = tensor_of(p.input, std::byte{2}),
                               .weight = tensor_of(p.weight, std::byte{3})};
    Op::Outputs outputs = {.input_grad = tensor_of(p.input_grad, poison),
                           .weight_grad = tensor_of(p.weight_grad, poison)};
    library.run_call(made, problem_, inputs, outputs);
    return outputs;
  }

  /// Expects that the run throws an ImplementationFault with the description "kind: text".
  void expect_fault(Conduct conduct, Kind kind, const std::string& text) {
    const auto library = open_aclnn<Op>(ACL_DOUBLE);
    tell(conduct);
    try {
      run(*library, call());
      FAIL() << "the fault was not detected";
    } catch (const spec::ImplementationFault& seen) {
      EXPECT_EQ(seen.kind(), kind);
      EXPECT_NE(std::string(seen.what()).find(text), std::string::npos) << seen.what();
    }
    tell(Conduct::fills_outputs);
    EXPECT_NO_THROW(run(*library, call())) << "a fault does not affect the next call";
  }

  Op::Problem problem_{.dtype = spec::DType::fp16, .heads = 2, .seq = 48, .head_dim = 16};
};

TEST_F(AclnnConduct, WritesTheViewedElementsAndNoOtherByteOfAStorage) {
  const auto library = open_aclnn<Op>(ACL_DOUBLE);
  for (const auto striding :
       {spec::Striding::contiguous, spec::Striding::padded, spec::Striding::transposed}) {
    const Op::Outputs outputs = run(*library, call(striding));
    for (const spec::Tensor* tensor : {&outputs.input_grad, &outputs.weight_grad}) {
      std::vector<std::byte> expected(tensor->bytes.size(), poison);
      for (const std::int64_t element : viewed_elements(*tensor))
        for (const std::int64_t byte : {0, 1})
          expected[static_cast<std::size_t>(2 * element + byte)] = written;
      EXPECT_EQ(tensor->bytes, expected);
    }
  }
}

TEST_F(AclnnConduct, RunWithoutACallUsesTheGivenTensors) {
  const auto library = open_aclnn<Op>(ACL_DOUBLE);
  const spec::Call<Op> made = call(spec::Striding::transposed);
  const auto& p = made.parameters;
  Op::Outputs outputs = {.input_grad = tensor_of(p.input_grad, poison),
                         .weight_grad = tensor_of(p.weight_grad, poison)};
  library->run(problem_,
               {.output_grad = tensor_of(p.output_grad, poison),
                .input = tensor_of(p.input, poison),
                .weight = tensor_of(p.weight, poison)},
               outputs);
  EXPECT_EQ(outputs.input_grad.bytes, run(*library, made).input_grad.bytes);
}

TEST_F(AclnnConduct, AByteOutsideATensorIsAFaultThatNamesTheTensor) {
  expect_fault(Conduct::writes_before, Kind::wrote_outside, "inputGradOut: the byte 1 B before");
  expect_fault(Conduct::writes_workspace, Kind::wrote_outside,
               "workspace: the byte 0 B after the end of its 40 B");
}

TEST_F(AclnnConduct, AByteAfterTheDescribedStorageIsCopiedBack) {
  // The storage of this tensor has one spare element after the view. The library writes a byte into
  // the spare element, which must be copied back.
  const auto library = open_aclnn<Op>(ACL_DOUBLE);
  tell(Conduct::writes_after);
  const Op::Outputs outputs = run(*library, call());
  EXPECT_EQ(outputs.weight_grad.bytes[outputs.weight_grad.bytes.size() - 2], poison ^ std::byte{1});
}

TEST_F(AclnnConduct, AnInputThatWasWrittenToIsAFault) {
  expect_fault(Conduct::writes_inputs, Kind::inputs_modified, "input: byte");
}

TEST_F(AclnnConduct, ADeviceThatFailsIsACrashWithTheLibrarysWords) {
  expect_fault(Conduct::fails_on_device, Kind::crash,
               "aclrtSynchronizeStream answered 507011: made to misbehave");
}

TEST_F(AclnnConduct, ADeviceWithoutMemoryIsOutOfMemory) {
  const auto library = open_aclnn<Op>(ACL_DOUBLE);
  tell(Conduct::has_no_memory);
  try {
    run(*library, call());
    FAIL() << "the fault was not detected";
  } catch (const spec::ImplementationFault& seen) {
    EXPECT_EQ(seen.kind(), Kind::out_of_memory);
    EXPECT_NE(std::string(seen.what()).find("207001"), std::string::npos) << seen.what();
  }
}

TEST_F(AclnnConduct, NonsensicalWorkspaceSizeIsReported) {
  expect_fault(Conduct::wants_all_memory, Kind::out_of_memory,
               "requests a workspace of 18446744073709551615 B");
}

TEST_F(AclnnConduct, ARefusalCarriesTheStatusAndTheWords) {
  const auto library = open_aclnn<Op>(ACL_DOUBLE);
  tell(Conduct::refuses);
  try {
    library->check(call());
    FAIL() << "accepted";
  } catch (const spec::Rejected& refusal) {
    EXPECT_EQ(refusal.status(), spec::Status::param_invalid);
    EXPECT_STREQ(refusal.what(),
                 "aclnnNsaCompressGradGetWorkspaceSize answered 161002: made to misbehave");
  }
  tell(Conduct::refuses_phase2);
  EXPECT_NO_THROW(library->check(call()));
  EXPECT_THROW(run(*library, call()), spec::Rejected);
  tell(Conduct::makes_no_tensor);
  EXPECT_THROW(library->check(call()), spec::Rejected);
}

TEST_F(AclnnConduct, EveryNullPointerReachesTheLibrary) {
  const auto library = open_aclnn<Op>(ACL_DOUBLE);
  const auto status_without = [&](auto&& remove) {
    spec::Call<Op> made = call();
    remove(made);
    try {
      library->check(made);
      return spec::Status::success;
    } catch (const spec::Rejected& refusal) {
      return refusal.status();
    }
  };
  EXPECT_EQ(status_without([](auto&) {}), spec::Status::success);
  for (const auto member :
       {&Op::Parameters::output_grad, &Op::Parameters::input, &Op::Parameters::weight,
        &Op::Parameters::input_grad, &Op::Parameters::weight_grad})
    EXPECT_EQ(status_without([&](auto& c) { (c.parameters.*member).present = false; }),
              spec::Status::param_nullptr);
  EXPECT_EQ(status_without([](auto& c) { c.parameters.act_seq_len.reset(); }),
            spec::Status::param_nullptr);
  EXPECT_EQ(status_without([](auto& c) { c.parameters.workspace_size = false; }),
            spec::Status::param_nullptr);
  EXPECT_EQ(status_without([](auto& c) { c.parameters.executor = false; }),
            spec::Status::param_nullptr);
  EXPECT_EQ(status_without([](auto& c) { c.attributes.layout.reset(); }),
            spec::Status::param_nullptr);
  EXPECT_EQ(status_without([](auto& c) { c.attributes.layout = "BSH"; }),
            spec::Status::param_invalid);
  EXPECT_EQ(status_without([](auto& c) { c.attributes.act_seq_len_type = 1; }),
            spec::Status::param_invalid);
  EXPECT_EQ(status_without([](auto& c) { c.attributes.compress_stride = 32; }),
            spec::Status::param_invalid);
  EXPECT_EQ(status_without([](auto& c) { c.parameters.act_seq_len = {{47}}; }),
            spec::Status::param_invalid);
}

TEST_F(AclnnConduct, OnlyBuffersOutliveACallAndNothingOutlivesTheImplementation) {
  {
    const auto library = open_aclnn<Op>(ACL_DOUBLE);
    for (const Conduct conduct :
         {Conduct::fills_outputs, Conduct::refuses, Conduct::writes_inputs,
          Conduct::fails_on_device, Conduct::refuses_phase2, Conduct::wants_all_memory}) {
      tell(conduct);
      try {
        library->check(call());
        run(*library, call());
      } catch (const std::runtime_error&) {
        // Exceptions are ignored: this test checks only which objects remain allocated.
      }
      const tests::Living left = living();
      EXPECT_EQ(left.tensors, 0);
      EXPECT_EQ(left.arrays, 0);
      EXPECT_EQ(left.executors, 0);
      EXPECT_GT(left.allocations, 0);
    }
    const auto second = open_aclnn<Op>(ACL_DOUBLE);
    EXPECT_EQ(living().runtimes, 1) << "both libraries share one runtime";
  }
  const tests::Living left = living();
  EXPECT_EQ(left.allocations, 0);
  EXPECT_EQ(left.streams, 0);
  EXPECT_EQ(left.contexts, 0);
  EXPECT_EQ(left.runtimes, 0);
}

TEST_F(AclnnConduct, FixedOrderIsDeclaredIfTheLibrarySupportsIt) {
  const auto was_deterministic = exported<tests::WasDeterministic>("double_was_deterministic");
  const auto granted = open_aclnn<Op>(ACL_DOUBLE);
  EXPECT_EQ(granted->numerics(problem_).order, spec::Order::fixed);
  run(*granted, call());
  EXPECT_TRUE(was_deterministic());
  const auto unasked = open_aclnn<Op>(ACL_DOUBLE ",order=any");
  EXPECT_EQ(unasked->numerics(problem_).order, spec::Order::any);
  run(*unasked, call());
  EXPECT_FALSE(was_deterministic());
  tell(Conduct::cannot_fix_order);
  EXPECT_EQ(open_aclnn<Op>(ACL_DOUBLE)->numerics(problem_).order, spec::Order::any);
}

TEST_F(AclnnConduct, AnEntryPointThatIsMissingIsUnsupportedAndNamed) {
  using Flash = spec::FlashAttentionScoreGrad;
  const auto library = open_aclnn<Flash>(ACL_DOUBLE);
  const auto reason = [&](spec::FlashEntryPoint entry_point) {
    return library->unsupported(call_of(Flash::Problem{}, entry_point, spec::Product::a2,
                                        spec::Striding::contiguous, spec::Striding::contiguous));
  };
  EXPECT_EQ(reason(spec::FlashEntryPoint::g1), std::nullopt);
  const std::string exports_no = std::string(ACL_DOUBLE) + " exports no ";
  EXPECT_EQ(reason(spec::FlashEntryPoint::g2),
            exports_no + "aclnnFlashAttentionScoreGradV2GetWorkspaceSize");
  EXPECT_EQ(open_aclnn<Op>(ACL_DOUBLE)->unsupported(call()), std::nullopt);
}

TEST_F(AclnnConduct, AnOperatorWithoutEntryPointIsNotOffered) {
  spec::for_each_operator([]<class Other> {
    const bool is_exported =
        Other::name == Op::name || Other::name == spec::FlashAttentionScoreGrad::name;
    try {
      open_aclnn<Other>(ACL_DOUBLE);
      EXPECT_TRUE(is_exported) << Other::name;
    } catch (const spec::Unsupported& reason) {
      EXPECT_FALSE(is_exported) << Other::name;
      EXPECT_EQ(reason.what(),
                std::string(ACL_DOUBLE) + " exports no entry point of " + std::string(Other::name));
    }
  });
}

/// Returns the message of the exception that open_aclnn throws for the library description `rest`.
std::string refusal_of(const std::string& rest) {
  try {
    open_aclnn<Op>(rest);
  } catch (const std::exception& failure) {
    return failure.what();
  }
  return "accepted";
}

TEST_F(AclnnConduct, InvalidRestIsRefusedWithTheReason) {
  const std::string library = ACL_DOUBLE;
  const auto names = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(names(refusal_of(""), "contains no shared object"));
  EXPECT_TRUE(names(refusal_of("device=0"), "contains no shared object"));
  EXPECT_TRUE(names(refusal_of("/nowhere/libnone.so"), "/nowhere/libnone.so"));
  EXPECT_TRUE(names(refusal_of("libm.so.6"), "exports aclInit"));
  EXPECT_TRUE(names(refusal_of(library + ",colour=red"), "'colour'"));
  EXPECT_TRUE(names(refusal_of(library + ",numerics=exact"), "no numerics preset 'exact'"));
  EXPECT_TRUE(names(refusal_of(library + ",order=sorted"), "order is 'sorted'"));
  EXPECT_TRUE(names(refusal_of(library + ",exp_error=tiny"), "exp_error is 'tiny'"));
  EXPECT_TRUE(names(refusal_of(library + ",fused=maybe"), "fused is 'maybe'"));
  EXPECT_TRUE(names(refusal_of(library + ",device=-1"), "device is '-1'"));
  EXPECT_TRUE(names(refusal_of(library + ",device=7"), "aclrtSetDevice answered 107001"));
  EXPECT_EQ(living().runtimes, 0) << "the runtime must be stopped if opening fails";
}

TEST_F(AclnnConduct, SettingsAreTheDeclaredProfile) {
  const auto library =
      open_aclnn<Op>(ACL_DOUBLE ",numerics=cuda_flash,exp_error=0x1p-20,overflow=saturate");
  const spec::Numerics numerics = library->numerics(problem_);
  spec::Numerics expected = spec::numerics_preset("cuda_flash", spec::DType::fp16, Op::name);
  expected.exp_error = 0x1p-20;
  expected.overflow = spec::Overflow::saturate;
  expected.order = spec::Order::fixed;
  EXPECT_EQ(numerics, expected);
  EXPECT_EQ(library->name(),
            "aclnn:" ACL_DOUBLE ",numerics=cuda_flash,exp_error=0x1p-20,overflow=saturate");
}

}  // namespace
}  // namespace assay::adapters
