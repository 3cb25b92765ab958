#include "isolated/packing.hpp"

#include <gtest/gtest.h>

#include "../../each_operator.hpp"
#include "isolated/messages.hpp"
#include "plugin/call.hpp"

namespace assay::adapters {
namespace {

/// Sets every visited member to a value that differs from its default and from the values of the
/// other members.
class Marker {
 public:
  void operator()(const char*, auto& member, const auto&...) { mark(member); }

 private:
  void mark(bool& member) { member = !member; }
  void mark(double& member) { member = 1.0 / static_cast<double>(++count_); }
  void mark(std::int64_t& member) { member = ++count_; }
  void mark(std::string& member) { member = "text " + std::to_string(++count_); }
  void mark(std::vector<std::int64_t>& member) { member = {++count_, -count_}; }
  template <spec::Spelled Enum>
  void mark(Enum& member) {
    const auto& entries = spec::spellings_of<Enum>.entries;
    member = entries[static_cast<std::size_t>(++count_) % entries.size()].first;
  }
  template <class T>
  void mark(std::optional<T>& member) {
    mark(member.emplace());
  }
  void mark(spec::Parameter& member) {
    member.present = true;
    mark(member.dtype), mark(member.format);
    mark(member.shape), mark(member.strides), mark(member.offset);
  }

  std::int64_t count_ = 0;
};

template <class T>
std::string packed(const T& value) {
  Packer packer;
  packer.add(value);
  return packer.text();
}

/// A packed call keeps the names, axes, formats and elements of reserved tensors, as it does for
/// inputs and outputs.
TEST(PluginCall, HoldsReservedTensorsAndFormats) {
  using Op = spec::FlashAttentionScoreGrad;
  spec::Call<Op> call{
      .entry_point = spec::FlashEntryPoint::u1, .product = {}, .parameters = {}, .attributes = {}};
  Op::Inputs inputs;
  inputs.query = spec::contiguous_tensor(spec::DType::bf16, {4, 1, 8});
  call.parameters.query = {.present = true,
                           .dtype = spec::DType::bf16,
                           .format = spec::Format::ncl,
                           .shape = {4, 1, 8},
                           .strides = {8, 8, 1}};
  call.parameters.padding_mask = {
      .present = true, .dtype = spec::DType::uint8, .shape = {2, 3}, .strides = {3, 1}};
  call.parameters.dpse = {.present = true, .dtype = spec::DType::fp32};
  PluginCall<Op> seen;
  seen.add_inputs(inputs);
  seen.add_rest(call);
  const assay_call c_call = seen.get();
  EXPECT_STREQ(assay_find_tensor(&c_call, "query")->format, "NCL");
  EXPECT_EQ(assay_find_tensor(&c_call, "query")->storage, inputs.query.bytes.data());
  const assay_tensor* mask = assay_find_tensor(&c_call, "padding_mask");
  ASSERT_NE(mask, nullptr);
  EXPECT_EQ(mask->rank, 2);
  EXPECT_EQ(mask->storage_bytes, 6);
  EXPECT_NE(mask->storage, nullptr);
  const assay_tensor* dpse = assay_find_tensor(&c_call, "dpse");
  ASSERT_NE(dpse, nullptr);
  EXPECT_EQ(dpse->rank, 0);
  EXPECT_EQ(dpse->storage_bytes, 4);
  EXPECT_EQ(assay_find_tensor(&c_call, "pse_shift"), nullptr);
}

template <class Op>
class Packing : public testing::Test {};
TYPED_TEST_SUITE(Packing, tests::EveryOperator, tests::ByOperator);

TYPED_TEST(Packing, ProblemSurvivesPacking) {
  typename TypeParam::Problem problem;
  visit_fields(problem, Marker());
  EXPECT_NE(problem, typename TypeParam::Problem());
  EXPECT_EQ(Unpacker(packed(problem)).take<typename TypeParam::Problem>(), problem);
}

TYPED_TEST(Packing, CallSurvivesPacking) {
  spec::Call<TypeParam> call{};
  const std::string plain = packed(call);
  visit_fields(call.parameters, Marker());
  visit_fields(call.attributes, Marker());
  call.product = spec::Product::a3;
  const std::string text = packed(call);
  EXPECT_NE(text, plain);
  EXPECT_EQ(packed(Unpacker(text).take<spec::Call<TypeParam>>()), text);
  EXPECT_EQ(packed(Unpacker(plain).take<spec::Call<TypeParam>>()), plain);
}

TEST(Packed, ProfileSurvivesPacking) {
  spec::Numerics numerics;
  visit_fields(numerics, Marker());
  EXPECT_EQ(Unpacker(packed(numerics)).take<spec::Numerics>(), numerics);
}

TEST(Packed, ATextThatEndsEarlyIsNoted) {
  std::string text = packed(std::string("twelve bytes"));
  text.pop_back();
  EXPECT_THROW(Unpacker(text).take<std::string>(), std::runtime_error);
  EXPECT_THROW(Unpacker("").take<std::int64_t>(), std::runtime_error);
}

/// Unpacking arbitrary bytes succeeds or is refused. Both need no more memory than the size of the
/// bytes.
TEST(Packed, InvalidBytesAreRefused) {
  EXPECT_THROW(Unpacker("\x02").take<bool>(), Nonsense);
  EXPECT_THROW(Unpacker("\x07").take<Answer>(), Nonsense);
  EXPECT_EQ(Unpacker("\x06").take<Answer>(), Answer::spoiled);
  EXPECT_EQ(Unpacker("\x05").take<Answer>(), Answer::not_asked);
  EXPECT_EQ(Unpacker("\x04").take<Answer>(), Answer::failed);
  EXPECT_THROW(Unpacker("\x7f").take<spec::DType>(), Nonsense);
  EXPECT_THROW(Unpacker("\x06").take<spec::ImplementationFault::Kind>(), Nonsense);
  EXPECT_THROW(Unpacker(packed(std::size_t{1} << 60)).take<std::vector<std::int64_t>>(), Nonsense);
  EXPECT_THROW(Unpacker(packed(std::size_t{1} << 60)).take<std::string>(), Nonsense);
  EXPECT_EQ(Unpacker(packed(spec::Status{-12345})).take<spec::Status>(), spec::Status{-12345});
  EXPECT_THROW(Unpacker("x").finish(), Nonsense);
  EXPECT_NO_THROW(Unpacker("").finish());
}

TEST(Packed, AProfileWithAChangedByteIsAProfileOrNonsense) {
  const std::string text = packed(spec::Numerics());
  int refused = 0;
  for (std::size_t at = 0; at < text.size(); ++at)
    for (const int change : {1, 2, 0x80, 0xff}) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ change);
      try {
        Unpacker unpacker(changed);
        unpacker.take<spec::Numerics>();
        unpacker.finish();
      } catch (const Nonsense&) {
        ++refused;
      }
    }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace assay::adapters
