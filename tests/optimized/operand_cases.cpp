#include "check_cases.hpp"

namespace assay::test {
namespace {

using Problem = FlashOp::Problem;
using C = FlashCall;
using enum spec::FlashSurface;
using spec::DType;
using spec::Format;
constexpr auto null = spec::Status::param_nullptr;

const std::vector<CheckCase>& presence() {
  static const std::vector<CheckCase> cases = {
      {every_surface(), {}, {}, ""},
      {every_surface(), {}, [](C& c) { c.parameters.query.present = false; },
       "FAG-C01: query is null; it is required", null},
      {every_surface(), {}, [](C& c) { c.parameters.dy.present = false; },
       "FAG-C01: dy is null; it is required", null},
      {every_surface(), {}, [](C& c) { c.parameters.dv.present = false; },
       "FAG-C02: dv is null; it is required", null},
      {every_surface(), {}, [](C& c) { c.parameters.executor = false; },
       "FAG-C02: executor is null; it is required", null},
      {every_surface(), {}, [](C& c) { c.parameters.attention_in.present = false; },
       "FAG-C03: attention_in is null; it is required", null},
      {every_surface(), {}, [](C& c) { c.parameters.attention_in.shape.clear(); },
       "FAG-C03: attention_in has rank 0; it is required", null},
      {every_surface(), {}, [](C& c) { c.parameters.softmax_sum.present = false; },
       "FAG-C04: softmax_sum is null; it is required", null},
      {unpadding(), {}, [](C& c) { c.parameters.actual_seq_kvlen.reset(); },
       "FAG-C05: actual_seq_kvlen is null; it is required", null},
      {unpadding(), {}, [](C& c) { c.parameters.actual_seq_qlen->clear(); },
       "FAG-C05: actual_seq_qlen has 0 entries; it needs at least 1"},
      {unpadding(), {}, [](C& c) { c.parameters.actual_seq_kvlen->push_back(62); },
       "FAG-C05: actual_seq_kvlen has 4 entries, actual_seq_qlen 3; they must be equally many"},
      {{u3}, {}, [](C& c) { c.parameters.query_rope.present = false; },
       "FAG-C06: query_rope is null; it is required", null},
      {{u3}, {}, [](C& c) { c.parameters.dk_rope.present = false; },
       "FAG-C06: dk_rope is null; it is required", null},
      {every_surface(), {}, [](C& c) { c.attributes.input_layout.reset(); },
       "FAG-C07: inputLayout is null; it is required", null},
      {{u3}, {}, [](C& c) { c.parameters.atten_mask.present = false; },
       "FAG-C08: atten_mask is null; u3 requires it", null},
      {{g1, g2, u1, u2, u4}, {}, [](C& c) { c.parameters.atten_mask.present = false; }, ""},
      {{u3}, {}, [](C& c) { c.parameters.atten_mask.shape.clear(); },
       "FAG-C08: atten_mask has rank 0; u3 requires it", null},
      {{u3}, {}, [](C& c) { c.parameters.pse_shift = parameter(DType::bf16, {1, 4, 1024, 30}); },
       "FAG-C09: pse_shift has shape [1, 4, 1024, 30]; it must be null on u3"},
      {{u3}, {}, [](C& c) { c.parameters.drop_mask = parameter(DType::uint8, {900}); },
       "FAG-C10: drop_mask has shape [900]; it must be null on u3"},
      {{u3, u4}, {}, [](C& c) { c.parameters.padding_mask = parameter(DType::uint8, {3, 30}); },
       "FAG-C11: padding_mask has shape [3, 30]; it must be null on "},
      {{g1, g2, u1, u2}, {},
       [](C& c) { c.parameters.padding_mask = parameter(DType::uint8, {3, 30}); }, ""},
  };
  return cases;
}

const std::vector<CheckCase>& types() {
  static const std::vector<CheckCase> cases = {
      {{g1, g2, u1, u2, u4}, [](Problem& p) { p.dtype = DType::fp16; }, {}, ""},
      {{g1, g2, u1, u2, u4}, [](Problem& p) { p.dtype = DType::fp32; }, {}, ""},
      {every_surface(), {}, [](C& c) { c.parameters.query.dtype = DType::int8; },
       "FAG-C20: type of query is int8; it must be fp16 or bf16 or fp32"},
      {every_surface(), {}, [](C& c) { c.parameters.value.dtype = DType::fp16; },
       "FAG-C20: type of value is fp16, that of query is bf16; they must be equal"},
      {every_surface(), {}, [](C& c) { c.parameters.dk.dtype = DType::fp32; },
       "FAG-C21: type of dk is fp32, that of query is bf16; they must be equal"},
      {every_surface(), {}, [](C& c) { c.parameters.attention_in.dtype = DType::fp32; },
       "FAG-C21a: type of attention_in is fp32, that of query is bf16; they must be equal"},
      {{u3}, {}, [](C& c) { c.parameters.dq_rope.dtype = DType::fp16; },
       "FAG-C21: type of dq_rope is fp16, that of query is bf16; they must be equal"},
      {padded(), {}, [](C& c) { c.parameters.key.dtype = DType::float8_e5m2; },
       "FAG-C22: type of key is float8_e5m2; 8-bit floating types are not supported on a2 and a3"},
      {unpadding(), {}, [](C& c) { c.parameters.key.dtype = DType::float8_e5m2; },
       "FAG-C20: type of key is float8_e5m2; it must be fp16 or bf16 or fp32"},
      {{u3}, [](Problem& p) { p.dtype = DType::fp16; }, {},
       "FAG-C27: type of query is fp16; it must be bf16"},
      {{u3}, {}, [](C& c) { c.parameters.key_rope.dtype = DType::fp32; },
       "FAG-C27: type of key_rope is fp32; it must be bf16"},
      {{g1, g2, u1, u2, u4}, {},
       [](C& c) { c.parameters.drop_mask = parameter(DType::int8, {900}); },
       "FAG-C24: type of drop_mask is int8; it must be uint8"},
      {every_surface(), {}, [](C& c) { c.parameters.atten_mask.dtype = DType::uint8; }, ""},
      {every_surface(), {}, [](C& c) { c.parameters.atten_mask.dtype = DType::fp16; },
       "FAG-C25: type of atten_mask is fp16; it must be bool or uint8"},
      {every_surface(), {}, [](C& c) { c.parameters.softmax_max.dtype = DType::fp16; },
       "FAG-C26: type of softmax_max is fp16; it must be fp32"},
      {every_surface(), {}, [](C& c) { c.parameters.dq.format = Format::nchw; }, ""},
      {every_surface(), {}, [](C& c) { c.parameters.dq.format = Format::fractal_nz; },
       "FAG-C28: format of dq is FRACTAL_NZ; it must be ND"},
      {every_surface(), {}, [](C& c) { c.parameters.softmax_sum.format = Format::fractal_nz; },
       "FAG-C28a: format of softmax_sum is FRACTAL_NZ; it must be ND"},
      {{u3}, {}, [](C& c) { c.parameters.key_rope.format = Format::nc1hwc0; },
       "FAG-C28: format of key_rope is NC1HWC0; it must be ND"},
      {{g1, g2, u1, u2}, {},
       [](C& c) { c.parameters.padding_mask = parameter(DType::fp32, {3, 30}); },
       "FAG-C29: type of padding_mask is fp32; it must be uint8 or bool"},
      {{g1, g2, u1, u2, u4}, {},
       [](C& c) { c.parameters.softmax_in = parameter(DType::int32, {3, 30}); },
       "FAG-C29: type of softmax_in is int32; it must be fp16 or bf16 or fp32"},
      {{u3}, {}, [](C& c) { c.parameters.softmax_in = parameter(DType::int32, {3, 30}); }, ""},
  };
  return cases;
}

const std::vector<CheckCase>& layouts() {
  static const std::vector<CheckCase> cases = {
      {padded(), {}, [](C& c) { c.attributes.input_layout = "bnsd"; },
       "FAG-C30: inputLayout is \"bnsd\"; it must be BSH, SBH, BSND or BNSD"},
      {padded(), {}, [](C& c) { c.attributes.input_layout = "TND"; },
       "FAG-C30: inputLayout is \"TND\"; it must be BSH, SBH, BSND or BNSD"},
      {unpadding(), {}, [](C& c) { c.attributes.input_layout = "tnd"; },
       "FAG-C31: inputLayout is \"tnd\"; it must be \"TND\""},
      {unpadding(), {}, [](C& c) { c.attributes.input_layout = "BSH"; },
       "FAG-C31: inputLayout is \"BSH\"; it must be \"TND\""},
      {padded(), {}, [](C& c) { c.parameters.key.shape.pop_back(); },
       "FAG-C32: rank of key is 3; layout BNSD needs 4"},
      {unpadding(), {}, [](C& c) { c.parameters.key.shape.push_back(1); },
       "FAG-C32: rank of key is 4; layout TND needs 3"},
      {{u3}, {}, [](C& c) { c.parameters.dq_rope.shape.pop_back(); },
       "FAG-C32: rank of dq_rope is 2; layout TND needs 3"},
      {unpadding(), {}, [](C& c) { c.parameters.actual_seq_qlen = {{5, 4, 37}}; },
       "TND-2: entry 1 of actual_seq_qlen is 4; it must be at least the sum before it, which is 5"},
      {unpadding(), {}, [](C& c) { c.parameters.actual_seq_kvlen = {{-1, 4, 62}}; },
       "TND-2: entry 0 of actual_seq_kvlen is -1; it must be at least the sum before it, which is "
       "0"},
      {unpadding(), {}, [](C& c) { c.parameters.actual_seq_qlen = {{5, 25, 38}}; },
       "TND-3: last entry of actual_seq_qlen is 38; it must be at most the number of tokens, which "
       "is 37"},
      {unpadding(), {}, [](C& c) { c.parameters.actual_seq_qlen = {{5, 25, 36}}; }, ""},
      {unpadding(), [](Problem& p) { p.lengths_q[1] = 0, p.seq_q = 12; }, {}, ""},
      {unpadding(), [](Problem& p) { p.lengths_kv[0] = 0, p.seq_kv = 25; }, {}, ""},
  };
  return cases;
}

const std::vector<CheckCase>& shapes() {
  static const std::vector<CheckCase> cases = {
      {padded(), {}, [](C& c) { resize(c.parameters.value, 0, 2); },
       "FAG-C33: batch of value is 2, that of query is 3; they must be equal"},
      {{u3}, {}, [](C& c) { resize(c.parameters.query_rope, 0, 38); },
       "FAG-C33: shape of query_rope is [38, 4, 8]; it must be [37, 4, 8]"},
      {{u3}, {}, [](C& c) { resize(c.parameters.key_rope, 1, 4); },
       "FAG-C33: shape of key_rope is [62, 4, 8]; it must be [62, 2, 8]"},
      {every_surface(), {}, [](C& c) { c.parameters.key.shape.back() = 25; },
       "FAG-C34: head size of key is 25, that of query is 24; they must be equal"},
      {every_surface(), [](Problem& p) { p.head_dim_v = 24; }, {}, ""},
      {every_surface(), [](Problem& p) { p.head_dim_v = 25; }, {},
       "FAG-C35: head size of value is 25; it must be at most that of key, which is 24"},
      {padded(), {}, [](C& c) { resize(c.parameters.value, 2, 31); },
       "FAG-C36: shape of value is [3, 2, 31, 16]; it must be [3, 2, 30, 16]"},
      {unpadding(), {}, [](C& c) { resize(c.parameters.dy, 0, 36); },
       "FAG-C36: shape of dy is [36, 4, 16]; it must be [37, 4, 16]"},
      {every_surface(), [](Problem& p) { p.heads_kv = 1; }, {}, ""},
      {every_surface(), [](Problem& p) { p.heads_kv = 3; }, {},
       "FAG-C37: query has 4 heads, key 3; the former must be a multiple of the latter"},
      {every_surface(), {}, [](C& c) { c.attributes.head_num = 0; },
       "FAG-C38: headNum is 0; it must be the number of query heads, at least 1"},
      {every_surface(), {}, [](C& c) { c.attributes.head_num = 2; },
       "FAG-C38: headNum is 2, query has 4 heads; they must be equal"},
      {padded(), {}, [](C& c) { resize(c.parameters.softmax_max, 3, 1); },
       "FAG-C46: shape of softmax_max is [3, 4, 20, 1]; it must be [3, 4, 20, 8]"},
      {unpadding(), {},
       [](C& c) { c.parameters.softmax_sum = parameter(DType::fp32, {4, 37, 8}); },
       "FAG-C46: shape of softmax_sum is [4, 37, 8]; it must be [37, 4, 8]"},
      {padded(), {}, [](C& c) { resize(c.parameters.attention_in, 3, 24); },
       "FAG-C47: shape of attention_in is [3, 4, 20, 24]; it must be [3, 4, 20, 16]"},
      {unpadding(), {}, [](C& c) { resize(c.parameters.attention_in, 2, 24); },
       "FAG-C47: shape of attention_in is [37, 4, 24]; it must be [37, 4, 16]"},
      {padded(), {}, [](C& c) { resize(c.parameters.dv, 2, 29); },
       "FAG-C48: shape of dv is [3, 2, 29, 16]; it must be [3, 2, 30, 16]"},
      {{u3}, {}, [](C& c) { resize(c.parameters.dk_rope, 2, 16); },
       "FAG-C48: shape of dk_rope is [62, 2, 16]; it must be [62, 2, 8]"},
      {padded(), {}, [](C& c) { resize(c.parameters.query, 2, 0); },
       "FAG-C49: shape of query is [3, 4, 0, 24], empty, though no gradient is empty"},
      {unpadding(), {}, [](C& c) { resize(c.parameters.value, 2, 0); },
       "FAG-C49: shape of value is [62, 2, 0], empty, though no gradient is empty"},
  };
  return cases;
}

}  // namespace

std::span<const CheckCase> operand_cases() {
  static const std::vector<CheckCase> all = joined({presence(), types(), layouts(), shapes()});
  return all;
}

}  // namespace assay::test
